# SPDX-License-Identifier: Apache-2.0
"""Prints where torch and the CUDA files around it are, as one CMake list; imports no torch code but its version."""
import importlib.util
import pathlib
import sys

spec = importlib.util.find_spec("torch")
if spec is None:
    sys.exit("no module named torch")
torch = pathlib.Path(spec.origin).parent
site = torch.parent
version = {}
exec((torch / "version.py").read_text(), version)
nvidia = site / "nvidia" / "cu13"
triton = site / "triton" / "backends" / "nvidia" / "include"
config = (torch / "share" / "cmake" / "Torch" / "TorchConfig.cmake").read_text()
abi = "0" if "_GLIBCXX_USE_CXX11_ABI=0" in config else "1"
# setup may have put headers that torch's wheels leave out (CCCL, crt) into another folder of the search path.
extra = [str(folder / "nvidia" / "cu13" / "include") for folder in map(pathlib.Path, sys.path)
         if folder != site and (folder / "nvidia" / "cu13" / "include").is_dir()]
print(";".join([str(torch), str(version["__version__"]), str(nvidia) if nvidia.is_dir() else "",
                str(triton) if triton.is_dir() else "", abi, *extra]))
