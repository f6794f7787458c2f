"""Changes that were put aside: the pages that have some, none of which was in the pool when they were noted.

A page comes off when it is read, for whatever reason; what waits is then merged into it. How many changes a page has
doesn't matter: they are merged together.
"""


class WaitingChanges:
    """Pages with changes that wait. `pages`: all of them, in an order that draws depend on."""

    def __init__(self) -> None:
        self.pages: list[int] = []
        self.places: dict[int, int] = {}

    def __contains__(self, page: int) -> bool:
        return page in self.places

    def note(self, page: int) -> None:
        """A change of a page waits."""
        if page not in self.places:
            self.places[page] = len(self.pages)
            self.pages.append(page)

    def take(self, page: int) -> bool:
        """Changes of a page wait no longer; False if none did. The last page takes its place."""
        place = self.places.pop(page, None)
        if place is None:
            return False
        last = self.pages.pop()
        if last != page:
            self.pages[place], self.places[last] = last, place
        return True

    def swap(self, one: int, other: int) -> None:
        """Two pages change their places."""
        pages = self.pages
        pages[one], pages[other] = pages[other], pages[one]
        self.places[pages[one]], self.places[pages[other]] = one, other
