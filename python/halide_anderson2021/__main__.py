"""Prints where the parts of the package are, for Makefiles and CMake; --help tells the options."""

import argparse
import sys

import halide_anderson2021 as package


def main() -> int:
    """One line for each option that is given."""
    parser = argparse.ArgumentParser(prog="python -m halide_anderson2021", description=__doc__)
    parser.add_argument("--version", action="version", version=package.__version__)
    parser.add_argument("--plugin", action="store_true", help="the plugin, for -p of a generator")
    parser.add_argument("--tools", action="store_true", help="folder of the programs")
    parser.add_argument("--cmake", action="store_true", help="folder for anderson2021_DIR")
    parser.add_argument("--pkgconfig", action="store_true", help="folder for PKG_CONFIG_PATH")
    parser.add_argument("--weights", nargs="?", const="", metavar="NAME",
                        help="the weights file of that name; without a name: all names")
    given = parser.parse_args()
    if given.plugin:
        print(package.plugin_path())
    if given.tools:
        print(package.tools_dir())
    if given.cmake:
        print(package.cmake_dir())
    if given.pkgconfig:
        print(package.pkgconfig_dir())
    if given.weights == "":
        print("\n".join(package.weights_names()))
    elif given.weights is not None:
        try:
            print(package.weights_path(given.weights))
        except ValueError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
