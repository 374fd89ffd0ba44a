#!/usr/bin/env node
// Stands in for the desktop `code` executable that @vscode/test-electron starts:
// runs the given tests in the extension host of a code-server shown in Chromium, and exits with their result.
// It obeys the arguments that say what to test, and ignores the others (--user-data-dir, --no-sandbox, ...).
const path = require('node:path');
const util = require('node:util');
const { launchBrowser, newPage } = require('./browser.cjs');
const { startServer } = require('./server.cjs');

const TIMEOUT = 10 * 60_000; // VS Code reports nothing at all when it ignores the tests.
const EXIT = { failed: 1, timeout: 124, crashed: 125, interrupted: 130, terminated: 143 };

// The workbench's own messages, which come mixed with mocha's.
const NOISE = new RegExp(
  '^(' +
    [
      'Resolv(ing|ed) connection token',
      'Creating a socket',
      '\\[reconnection-grace-time\\]',
      'Updating additional builtin',
      'Ignoring fetching additional',
      '\\[Service Worker\\]',
      '\\[AgentHost',
      '\\[AccountPolicyGate\\]',
      'Creation of workbench contribution',
      'Extension host test runner exit code',
      'Timed out waiting for authentication provider', // on a slow machine
    ].join('|') +
    ')',
);

async function main() {
  const { extensionFolders, testsPath, workspace } = parseArguments(process.argv.slice(2));
  let end;
  const exitCode = new Promise((resolve) => (end = resolve)); // Promise.withResolvers needs Node 22.
  process.once('SIGINT', () => end(EXIT.interrupted));
  process.once('SIGTERM', () => end(EXIT.terminated));
  setTimeout(() => end(EXIT.timeout), TIMEOUT).unref();

  const server = await startServer({ testDriver: true });
  try {
    const browser = await launchBrowser();
    try {
      const page = await newPage(browser);
      browser.on('disconnected', () => end(EXIT.crashed));
      page.on('crash', () => end(EXIT.crashed));
      // VS Code calls these two functions when it runs tests in a browser.
      await page.exposeFunction('codeAutomationLog', print);
      await page.exposeFunction('codeAutomationExit', end);
      await page.goto(testUrl(server, { extensionFolders, testsPath, workspace }));
      return await exitCode;
    } finally {
      await browser.close();
    }
  } finally {
    await server.stop();
  }
}

function parseArguments(args) {
  const values = (name) => args.filter((a) => a.startsWith(`--${name}=`)).map((a) => a.slice(name.length + 3));
  return {
    extensionFolders: values('extensionDevelopmentPath'),
    testsPath: values('extensionTestsPath')[0],
    workspace: args.find((a) => !a.startsWith('-')),
  };
}

function testUrl({ origin, authority }, { extensionFolders, testsPath, workspace }) {
  const remote = (file) => `vscode-remote://${authority}${path.resolve(file)}`;
  const query = new URLSearchParams();
  if (!workspace)
    query.set('ew', 'true'); // empty window
  else query.set(workspace.endsWith('.code-workspace') ? 'workspace' : 'folder', path.resolve(workspace));
  query.set(
    'payload',
    JSON.stringify([
      ...extensionFolders.map((folder) => ['extensionDevelopmentPath', remote(folder)]),
      ['extensionTestsPath', remote(testsPath)],
    ]),
  );
  return `${origin}/?${query}`;
}

function print(level, args) {
  const line = util.format(...args.map((arg) => (typeof arg === 'object' ? JSON.stringify(arg) : arg)));
  if (!NOISE.test(line)) (console[level] ?? console.log)(line);
}

main().then(
  (code) => process.exit(code),
  (error) => {
    console.error(error);
    process.exit(EXIT.failed);
  },
);
