// code-server in a process of its own. Its entry point would keep a second node beside it only to start it again, and
// ends it unless it is up within ten seconds, which an emulated processor does not manage.
"use strict";

const parts = "/opt/vscode/node_modules/code-server/out/node";
process.env.CODE_SERVER_PARENT_PID = String(process.pid); // what tells these parts not to start another one
process.env.NODE_EXEC_PATH = process.execPath;
const { parse, readConfigFile, setDefaults } = require(`${parts}/cli`);
const { runCodeServer } = require(`${parts}/main`);
const { wrapper } = require(`${parts}/wrapper`);

async function serve() {
    const given = parse(process.argv.slice(2));
    const args = await setDefaults(given, await readConfigFile(given.config));
    wrapper.preventExit();
    const server = await runCodeServer(args);
    wrapper.onDispose(() => server.dispose());
}

serve().catch((error) => {
    console.error(error);
    wrapper.exit(1);
});
