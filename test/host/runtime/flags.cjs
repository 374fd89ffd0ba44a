// The command line of Chromium, for the windows of VS Code and for the tests of the views.

/** What Playwright turns off. It says so in the same flag, of which only the last one counts. */
const PLAYWRIGHT_OFF = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];
/** Two pages below the address bar, which every window loads in processes of their own, although nobody sees it. */
const ADDRESS_BAR = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'];

module.exports = [
  '--no-sandbox', // Chromium's sandbox does not work for root.
  '--disable-gpu',
  '--disable-dev-shm-usage', // /dev/shm is small in containers.
  `--disable-features=${[...PLAYWRIGHT_OFF, ...ADDRESS_BAR].join(',')}`,
];
