// What `npm run evidence` runs repairs with.
export { checkModel } from '../../src/features/diagnose/checkModel.ts';
export { catalogue, planRepair } from '../../src/features/repair/planRepair.ts';
export { RepairSubject } from '../../src/features/repair/subject.ts';
export { bytesOf } from '../../src/kernel/base/problem.ts';
export { readModel } from '../../src/kernel/read/onnx/readModel.ts';
