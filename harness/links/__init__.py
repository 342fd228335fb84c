"""The proxies on every link."""
