#!/usr/bin/env python3
"""Checks that every #include points at the same room or at one below it.

What stands below a room is what its stoker_room(... DEPENDS ...) in src/<room>/CMakeLists.txt says, and what
those rooms depend on in turn. A public header named after a room belongs to it: include/stoker/<room>.h and
everything in include/stoker/<room>/. Any other public header belongs to none and is judged by what it includes.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
PUBLIC = ROOT / "include"
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
ROOM = re.compile(r"stoker_room\(\s*([^\s)]+)([^)]*)\)")
KEYWORDS = {"FOLDERS", "DEPENDS", "LINKS", "DEFINES", "OPTIONS"}


def read_depends():
    depends = {}
    for path in sorted(SRC.rglob("CMakeLists.txt")):
        for room, rest in ROOM.findall(path.read_text()):
            depends[room] = []
            keyword = None
            for word in rest.split():
                if word in KEYWORDS:
                    keyword = word
                elif keyword == "DEPENDS":
                    depends[room].append(word)
    return depends


def closure(depends, room):
    below = {room}
    for other in depends[room]:
        below |= closure(depends, other)
    return below


def room_of(path, rooms):
    """The innermost room that holds the file, or None for a public header that belongs to no room."""
    if path.is_relative_to(SRC):
        name = path.relative_to(SRC).parent.as_posix() + "/"
    else:
        name = path.relative_to(PUBLIC / "stoker").with_suffix("").as_posix() + "/"
    return max((room for room in rooms if name.startswith(room + "/")), key=len, default=None)


def resolve(name, includer):
    """The file of this project that an include names, or None when it comes from outside."""
    for folder in (includer.parent, SRC, PUBLIC):
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None


def reached(path, rooms, seen):
    """The rooms that a file's includes lead to, looking through headers that belong to none."""
    for name in INCLUDE.findall(path.read_text()):
        target = resolve(name, path)
        if target is None or target in seen:
            continue
        seen.add(target)
        room = room_of(target, rooms)
        if room is None:
            yield from ((name, inner) for _, inner in reached(target, rooms, seen))
        else:
            yield name, room


def main():
    depends = read_depends()
    wrong = 0
    files = [p for top in (SRC, PUBLIC) for p in sorted(top.rglob("*")) if p.suffix in (".h", ".cpp", ".inc")]
    for path in files:
        room = room_of(path, depends)
        if room is None:
            continue
        below = closure(depends, room)
        for name, other in reached(path, depends, set()):
            if other not in below:
                print(f"{path.relative_to(ROOT)}: room {room} includes {name}, which leads up to {other}")
                wrong += 1
    print(f"{len(files)} files, {wrong} arrows that point upward")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
