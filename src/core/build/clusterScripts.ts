import type { MatrixKubernetes, MatrixTarget } from './matrix.ts';
import { quoteCommand } from './quoteCommand.ts';

/**
 * A POSIX shell script that runs the n-th command of a list, as a cluster's array task tells: its output goes to
 * `<n>/build.log`, its exit status to `<n>/exit` once it has ended. Any shell there can run it; nothing else is needed.
 */
export function arrayScript(commands: string[][]): string {
  const cases = commands.map((command, index) => `${index}) set -- ${quoteCommand(command)} ;;`);
  return `#!/bin/sh
# Written by trtlens matrix. Runs one build: sh run.sh NUMBER, or as a task of an array.
n=\${1:-\${SLURM_ARRAY_TASK_ID:-$JOB_COMPLETION_INDEX}}
case $n in
${cases.join('\n')}
*) echo "run.sh: unknown build '$n'" >&2; exit 2 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)/$n
mkdir -p "$here" && rm -f "$here/exit" "$here/collected.json" || exit 2
date +%s >"$here/started"
"$@" >"$here/build.log" 2>&1 </dev/null
code=$?
date +%s >"$here/ended"
echo $code >"$here/exit.tmp" && mv "$here/exit.tmp" "$here/exit"
# A failed build is a result. Otherwise Kubernetes would retry it or abandon the others.
[ -n "$JOB_COMPLETION_INDEX" ] && exit 0
exit $code
`;
}

/** What to give to `sbatch` from inside the folder that holds run.sh. */
export function slurmScript({ name, sbatch = [] }: MatrixTarget, count: number, concurrency: number): string {
  const lines = [
    `--job-name=trtlens-${name}`,
    `--array=0-${count - 1}%${concurrency}`,
    '--output=slurm-%A_%a.txt',
    ...sbatch,
  ];
  // SLURM runs a copy of this file elsewhere; run.sh is in the folder that it was submitted from.
  return `#!/bin/sh\n${lines.map((line) => `#SBATCH ${line}\n`).join('')}exec sh ./run.sh\n`;
}

/**
 * The name of a Kubernetes Indexed Job: its pods are called after it and their index, in 63 characters at most.
 * @param id tells apart the jobs of all matrices in a namespace
 */
export function kubernetesName(target: string, id: string, count: number): string {
  const most = 63 - `-${count - 1}`.length - `-${id}`.length;
  return `${`trtlens-${target}`.slice(0, most).replace(/-+$/, '')}-${id}`;
}

/**
 * A Kubernetes Indexed Job as an object.
 * @param name see `kubernetesName`
 * @param script path of run.sh in the pod
 */
export function kubernetesJob(
  name: string,
  { image }: MatrixTarget,
  { claim, mount, namespace, gpus = 1 }: MatrixKubernetes,
  script: string,
  count: number,
  concurrency: number,
): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, ...(namespace && { namespace }) },
    spec: {
      completionMode: 'Indexed',
      completions: count,
      parallelism: Math.min(count, concurrency),
      backoffLimit: count,
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [
            {
              name: 'build',
              image,
              command: ['sh', script],
              ...(gpus > 0 && { resources: { limits: { 'nvidia.com/gpu': gpus } } }),
              volumeMounts: [{ name: 'builds', mountPath: mount }],
            },
          ],
          volumes: [{ name: 'builds', persistentVolumeClaim: { claimName: claim } }],
        },
      },
    },
  };
}
