"""Files on web servers. Imported only where an address is one: the libraries are slow to import."""

from __future__ import annotations

import io
import re
import urllib.error
import urllib.request
from email.message import Message
from http.client import HTTPException
from typing import Any, Final

from calib_core.errors import Refused, shorten
from calib_core.readers.file_access import os_error_text
from calib_core.version import VERSION

MAX_SILENCE_SECONDS: Final = 60
"""Seconds that a server may be silent."""


def _web_opener() -> urllib.request.OpenerDirector:
    """Opens http and https only, also where a server redirects to something else."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


class HttpFile(io.RawIOBase):
    """A file on a web server; what is read in order comes in one response.

    Raises
    ------
    Refused
        If the server has no such file.
    OSError
        If the network fails.
    """

    def __init__(self, address: str, name: str) -> None:
        self._address, self._name = address, name
        self._opener = _web_opener()
        self._response: Any = None
        self._position = 0
        self._response = self._request("0-0")  # one byte, with the size and the version of all
        headers: Message = self._response.headers
        ranged = re.fullmatch(r"bytes 0-\d+/(\d+)", headers.get("Content-Range", ""))
        length = headers.get("Content-Length", "")
        if self._response.status == 206 and ranged:
            self.size = int(ranged[1])
        elif length.isascii() and length.isdecimal():
            self.size = int(length)
        else:
            self.close()
            raise Refused(f"{name} cannot be read: its server does not say how long it is.")
        self._can_seek = self._response.status == 206
        if self._can_seek:
            self._drop_response()
        self.version = headers.get("ETag") or headers.get("Last-Modified") or ""

    def _request(self, byte_range: str) -> Any:  # noqa: ANN401  a response of the standard library
        headers = {
            "Range": f"bytes={byte_range}",
            "User-Agent": f"calib/{VERSION}",
            "Accept-Encoding": "identity",
        }
        request = urllib.request.Request(self._address, headers=headers)  # noqa: S310  opened as http only
        try:
            return self._opener.open(request, timeout=MAX_SILENCE_SECONDS)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in (408, 429) or error.code >= 500:
                raise OSError(f"the server answers {error.code}") from None
            raise Refused(f"{self._name} cannot be read: its server answers {error.code}.") from None
        except urllib.error.URLError as error:
            reason: object = error.reason
            if not isinstance(reason, OSError):  # a redirection to something else than a web server
                raise Refused(f"{self._name} cannot be read: {shorten(str(reason))}.") from None
            raise OSError(os_error_text(reason)) from None
        except (HTTPException, ValueError) as error:
            raise OSError(shorten(str(error))) from None

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """Whether the server sends parts of the file."""
        return self._can_seek

    def tell(self) -> int:
        """The position in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves to a position; raises io.UnsupportedOperation if the server does not send parts."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence] + offset
        if start != self._position:
            if not self._can_seek:
                raise io.UnsupportedOperation(f"the server of {self._name} does not send parts of it")
            self._drop_response()
            self._position = start
        return start

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401  any writable buffer
        """Reads the next bytes; raises OSError if the server stops early."""
        if self._position >= self.size:
            return 0
        if self._response is None:
            self._response = self._request(f"{self._position}-")
            if self._response.status != 206:
                raise OSError(f"the server of {self._name} no longer sends parts of it")
        try:
            n_read: int = self._response.readinto(buffer)
        except HTTPException as error:
            raise OSError(shorten(str(error))) from None
        if not n_read:
            raise OSError(f"the server of {self._name} stopped at byte {self._position:,} of {self.size:,}")
        self._position += n_read
        return n_read

    def close(self) -> None:
        """Ends the response."""
        self._drop_response()
        super().close()

    def _drop_response(self) -> None:
        if self._response is not None:
            self._response.close()
        self._response = None
