// Installs the Python packages that the tests run, before the first test needs them: `npm test` does so while it checks
// and builds. Those that are there already stay.
import { ensurePackages } from '../../src/kernel/node/tools/ensurePackages.ts';
import { cudaForTests, oldestRuntimeForTests, pythonForTests, tritonForTests } from './python.ts';

const confirm = () => Promise.resolve(true);

await ensurePackages('tensorrt-rtx', { confirm });
await ensurePackages('onnxruntime', { confirm });
await pythonForTests();
await oldestRuntimeForTests();
await tritonForTests();
await cudaForTests();
