import { docsUrl } from '../../kernel/node/cli/command.ts';

/** Exit statuses, in one line for the help and in full for their topic. */
export const exitLine = 'Exit status: 0 done; 1 done, but the check failed; 2 cannot be done.';

export interface HelpTopic {
  summary: string;
  text: string;
}

/** What is not about one command: `trtlens help TOPIC`. Lines of 80 characters at most. */
export const helpTopics: Readonly<Record<string, HelpTopic>> = {
  shapes: {
    summary: 'write shapes and optimization profiles',
    text: `A model with dynamic dimensions needs shapes: a name ends at the last colon,
dimensions are separated by x, inputs by commas.

  --shapes x:1x3x224x224,mask:1x224     one profile with only these shapes
  --min-shapes x:1x3x224x224
  --opt-shapes x:8x3x224x224            the shape that TensorRT optimizes for
  --max-shapes x:32x3x224x224

Repeat the last three options for more profiles: the n-th of each make the n-th
profile. A missing one equals the optimum. Dimensions without a shape are 1.
`,
  },
  precision: {
    summary: 'choose the types that nodes compute in',
    text: `TensorRT 10 and earlier choose types by themselves, from those that you allow:

  trtlens build net.onnx --precision fp16

With --strongly-typed, and always with TensorRT 11 and TensorRT-RTX, types are
those of the model. To change them, write rules (net.trtprec):

  base fp16
  op:LayerNormalization fp32
  /head/** fp32

  trtlens accuracy net.onnx --inputs F -o net.trtprec   find the rules
  trtlens precision check net.trtprec --onnx net.onnx   check them
  trtlens build net.onnx --rules net.trtprec            build with them
  trtlens precision verify net.trtprec --build FOLDER   see what TensorRT did

The rules are described at
${docsUrl}/precision.md
`,
  },
  environment: {
    summary: 'variables and folders that trtlens uses',
    text: `TENSORRT_LENS_CACHE   folder for builds and installed packages; default:
                      $XDG_CACHE_HOME or ~/.cache on Linux, ~/Library/Caches on
                      macOS, %LOCALAPPDATA% on Windows
PATH                  where trtexec, polygraphy, nsys and python are looked for;
                      --trtexec, --polygraphy, --nsys and --python take others
NO_COLOR              no colors; by default terminals get colors, pipes do not
FORCE_COLOR           colors in pipes, too; 0: none

trtlens sends nothing anywhere. It downloads TensorRT-RTX or ONNX Runtime only
after you agree (-y, --yes agrees in advance).
`,
  },
  exit: {
    summary: 'what the exit status of a command means',
    text: `0   done; what was checked holds. diagnose: the log was explained. diff of
    builds, what-if of a change: whatever they found
1   done, and what was checked does not hold:
      show                 the files say nothing about a build
      inspect              the engine cannot be loaded there
      check                the version will refuse it, or compute it wrong
      precision            rules with errors, or that a build did not obey
      accuracy, bisect     an output misses the tolerance
      diff                 a tensor misses the tolerance
      repair               not repairable with what is allowed
      gate                 a rule is broken
      build MATRIX.yaml    a build failed or is still running
      what-if              no change reaches the goal
      cut split --check    the parts compute other values
      setup triton         the configuration contradicts the engine
2   cannot be done: wrong arguments, unreadable files, a missing program, a
    build that fails; one line on stderr says why
130, 143, 129   ended by Ctrl-C, SIGTERM, or because the terminal was closed
`,
  },
  output: {
    summary: 'what goes to stdout and stderr, and JSON for scripts',
    text: `Results go to stdout, progress and warnings to stderr. Progress is shown only
if stderr is a terminal.

--json writes one JSON document to stdout and nothing else, also into a pipe.
JSON Schemas are in the package's folder schemas, and at
${docsUrl.replace('/docs', '/schemas')}

-o, --out FILE writes a file. No command overwrites one of its inputs or follows
a link. Only files that trtlens wrote are overwritten, an engine by an engine
and a timing cache by a timing cache, unless you pass --force.
Every input may be gzip-compressed.
`,
  },
};
