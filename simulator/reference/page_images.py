"""Pages that the log has whole: what their first change after a checkpoint has begun logs on top of its own."""


class PageImages:
    """At its first change since then a page is logged as it is, so that one that a crash tears can be mended."""

    def __init__(self, full_page_bytes: int) -> None:
        self.full_page_bytes = full_page_bytes
        self.logged: set[int] = set()
        """pages whose image the log has since the checkpoint began"""

    def begin_checkpoint(self) -> None:
        """From here on no page is in the log."""
        self.logged.clear()

    def added_bytes(self, page: int, is_new: bool) -> int:
        """Bytes that a change logs on top of its own. A new page needs no image: whoever mends makes it anew."""
        if not self.full_page_bytes or page in self.logged:
            return 0
        self.logged.add(page)
        return 0 if is_new else self.full_page_bytes
