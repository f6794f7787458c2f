"""Placement of pages: extents, each striped page by page over some of the data devices."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """Pages from `first_page` to before `end_page`, one by one over `devices` from `first_device` on.

    `start_bytes`: where they begin on those devices, behind the beginning of all data.
    """

    first_page: int
    end_page: int
    first_device: int
    devices: int
    start_bytes: int = 0

    def device_of(self, page: int) -> int:
        """The device where a page of it lies."""
        return self.first_device + (page - self.first_page) % self.devices

    def bytes_before(self, page: int, page_bytes: int) -> int:
        """Where on its device a page of it begins, behind the beginning of all data."""
        return self.start_bytes + (page - self.first_page) // self.devices * page_bytes


EVERY_PAGE = 1 << 62
"""end of an extent that has all pages"""


def round_robin(devices: int) -> tuple[Extent, ...]:
    """All pages over all devices."""
    return (Extent(0, EVERY_PAGE, 0, devices),)


def extent_of(extents: tuple[Extent, ...], page: int) -> Extent:
    """The extent that has a page; they are in order of pages, without gaps."""
    return next(extent for extent in extents if page < extent.end_page)
