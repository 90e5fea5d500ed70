// Preloaded into code-server: hands the listening socket (descriptor 10) that it was started with on to the
// process that serves, as that process's descriptor 4. Without this it stays with the process in between.
const processes = require("child_process");
const fork = processes.fork;
process.execArgv.length = 0; // the processes that it forks do not load this
processes.fork = (module, options) => fork(module, { ...options, stdio: [...options.stdio, 10] });
