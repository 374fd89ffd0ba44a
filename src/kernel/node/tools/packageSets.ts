import type { Python } from './findPython.ts';

/**
 * Pinned Python packages that live together in a private environment, with what the user must know before a download.
 */
export interface PackageSet {
  /** For the user. */
  title: string;
  /** The version that is set up. Tests and recorded builds are of this one. */
  version: string;
  /** Installed without dependencies, ready-made only: nothing that is downloaded runs during the installation. */
  wheels: string[];
  /** Installed from source if that works, and what is missing without it. */
  optional?: { package: string; without: string };
  /** Why it is needed, whose it is, under which license, how large. Lines of the question; the folder comes after them. */
  consent: string[];
  /** Python statements that import it and print its version. */
  check: string;
  /** An interpreter of the user's that has the packages does as well (`usePackages`). */
  usesOwn: boolean;
  /** Why an interpreter has no wheels; undefined: it has. */
  reject: (python: Python) => string | undefined;
  /** Which interpreter has, and how to get it. */
  advice: string;
}

const rtxVersion = '1.7.1.116';
const onnxruntimeVersion = '1.31.1';

/** How to get a Python that has all it takes, for the user. */
export function howToGetPython(platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return 'On Windows: winget install Python.Python.3.12';
  if (platform === 'darwin') return 'On macOS: brew install python@3.12';
  return 'On Debian and Ubuntu: sudo apt-get install python3 python3-venv';
}

/** The sets by name; a set's environment is `NAME-VERSION-TAG-PLATFORM` in the cache. */
export const packageSets = {
  'tensorrt-rtx': {
    title: 'TensorRT-RTX',
    version: rtxVersion,
    wheels: [`tensorrt-rtx-cu13-libs==${rtxVersion}`, `tensorrt-rtx-cu13-bindings==${rtxVersion}`],
    // The small package that only renames the binding comes as source. The driver does without it, other tools don't.
    optional: {
      package: `tensorrt-rtx-cu13==${rtxVersion}`,
      without: 'Polygraphy will not find TensorRT-RTX, but builds work',
    },
    consent: [
      `TensorRT-RTX ${rtxVersion} is needed to build engines on this machine. It needs no GPU.`,
      `It is a product of NVIDIA under NVIDIA's license (SLA for the TensorRT-RTX SDK), downloaded as Python wheels`,
      `(tensorrt-rtx-cu13, about 100 MB, 240 MB on disk) from your Python package index to`,
    ],
    check: 'import tensorrt_rtx_bindings as binding; print(binding.__version__)',
    usesOwn: false,
    reject: whyNotRtx,
    advice: `TensorRT-RTX has wheels for CPython 3.8 to 3.14 on Linux (x86-64, glibc 2.28 or newer) and Windows (x86-64, Arm64). ${howToGetPython()}`,
  },
  onnxruntime: {
    title: 'ONNX Runtime',
    version: onnxruntimeVersion,
    wheels: [`onnxruntime==${onnxruntimeVersion}`, 'numpy==2.4.6'],
    consent: [
      `ONNX Runtime ${onnxruntimeVersion} and NumPy are needed to run models on this machine's CPU.`,
      `They are open source (MIT and BSD licenses) and are downloaded as Python wheels`,
      `(onnxruntime and numpy, about 40 MB, 140 MB on disk) from your Python package index to`,
    ],
    check: 'import numpy, onnxruntime; print(onnxruntime.__version__)',
    usesOwn: true,
    reject: whyNotOnnxruntime,
    advice: `ONNX Runtime ${onnxruntimeVersion} has wheels for CPython 3.11 to 3.14. ${howToGetPython()}`,
  },
  calibration: {
    title: 'the quantizer of ONNX Runtime',
    version: onnxruntimeVersion,
    wheels: [
      `onnxruntime==${onnxruntimeVersion}`,
      'numpy==2.4.6',
      'onnx==1.23.2',
      'protobuf==7.36.2',
      'ml_dtypes==0.6.0',
      'typing_extensions==4.16.0',
      'packaging==26.3',
    ],
    consent: [
      `ONNX Runtime ${onnxruntimeVersion} with its quantizer and the package onnx are needed to convert operator sets.`,
      `They are open source (MIT, Apache 2.0 and BSD licenses) and are downloaded as Python wheels`,
      `(onnxruntime, onnx, numpy and what they need, about 65 MB, 200 MB on disk) from your Python package index to`,
    ],
    check: 'import onnx, onnxruntime.quantization; print(onnxruntime.__version__)',
    usesOwn: true,
    reject: whyNotOnnxruntime,
    advice: `ONNX Runtime ${onnxruntimeVersion} has wheels for CPython 3.11 to 3.14. ${howToGetPython()}`,
  },
} as const satisfies Record<string, PackageSet>;

export type PackageSetName = keyof typeof packageSets;

function whyNotRtx({ version: [major, minor], tag, platform, libc }: Python): string | undefined {
  if (major !== 3 || minor < 8 || minor > 14) return 'TensorRT-RTX has wheels for Python 3.8 to 3.14';
  if (!tag.startsWith('cp')) return `${tag} is not CPython`;
  if (platform.startsWith('macosx'))
    return 'TensorRT does not exist for macOS: build on another machine with --launcher, or open a recorded build';
  if (platform === 'linux-aarch64')
    return 'TensorRT-RTX has no wheels for Arm on Linux: build with the TensorRT installed there (--backend trtexec or python), or with --launcher';
  if (!/^(linux-x86_64|win-amd64|win-arm64)$/.test(platform)) return `no wheels for ${platform}`;
  return whyNotGlibc(platform, libc);
}

function whyNotOnnxruntime({ version: [major, minor], tag, platform, libc }: Python): string | undefined {
  if (major !== 3 || minor < 11 || minor > 14) return 'ONNX Runtime has wheels for Python 3.11 to 3.14';
  if (!tag.startsWith('cp')) return `${tag} is not CPython`;
  if (/^macosx-.*-x86_64$/.test(platform)) return 'ONNX Runtime has no wheels for Macs with Intel processors';
  return whyNotGlibc(platform, libc);
}

/** The wheels of both are made for glibc 2.28 (manylinux_2_28). */
function whyNotGlibc(platform: string, libc: string): string | undefined {
  if (!platform.startsWith('linux')) return undefined;
  const glibc = /^glibc (\d+)\.(\d+)/.exec(libc);
  if (!glibc) return 'no wheels for the C library musl';
  if (Number(glibc[1]) < 2 || Number(glibc[2]) < 28) return `glibc 2.28 or later is required, this is ${libc}`;
  return undefined;
}
