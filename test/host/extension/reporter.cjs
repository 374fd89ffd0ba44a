// Prints mocha's usual report, and writes `{ passed, failed }` to the file that RESULTS names.
const fs = require('node:fs');
const { reporters } = require('mocha');

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      // A skipped test says nothing about what it was written for: it counts as failed.
      if (process.env.RESULTS)
        fs.writeFileSync(process.env.RESULTS, JSON.stringify({ passed: passes, failed: failures + pending }));
    });
  }
};
