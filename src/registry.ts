// What features add to the kernel's steps. Nothing of a feature is loaded before its first use.
import { commandSteps } from './kernel/node/cli/commandSteps.ts';
import { buildSteps } from './kernel/node/run/buildSteps.ts';

/** Fills the steps; every program calls it once, when it starts. */
export function registerSteps(): void {
  const overrides = () => import('./features/precision/node/buildOverrides.ts');
  buildSteps.applyOverrides = async (...args) => (await overrides()).applyOverrides(...args);
  const diagnose = () => import('./features/diagnose/diagnoseLog.ts');
  buildSteps.diagnose = async (...args) => (await diagnose()).diagnoseLog(...args);
  const repairs = () => import('./features/repair/node/suggestRepairs.ts');
  buildSteps.withApplyingRepairs = async (...args) => (await repairs()).withApplyingRepairs(...args);
  buildSteps.suggestRepairs = async (...args) => (await repairs()).suggestRepairs(...args);
  const repairFirst = () => import('./features/repair/node/cli/repairFirst.ts');
  commandSteps.repairFirst = async (...args) => (await repairFirst()).repairFirst(...args);
  const dynamicShapes = () => import('./features/trials/node/dynamicShapesCost.ts');
  commandSteps.dynamicShapesCost = async (...args) =>
    void (await (await dynamicShapes()).findDynamicShapesCost(...args));
}
