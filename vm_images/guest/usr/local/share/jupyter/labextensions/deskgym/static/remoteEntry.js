// A JupyterLab extension without a build: the module-federation container that JupyterLab asks for, by hand.
(function () {
  let shared;

  // The newest of the versions of a package that the page shares.
  async function load(name) {
    const versions = shared[name];
    const newest = Object.keys(versions).sort().pop();
    return (await versions[newest].get())();
  }

  // Enter puts a line break and nothing else. JupyterLab has no setting for it; CodeMirror's default indents.
  async function plainEnter() {
    const { IEditorExtensionRegistry } = await load("@jupyterlab/codemirror");
    const { Prec } = await load("@codemirror/state");
    const { keymap } = await load("@codemirror/view");
    const breakLine = (view) => {
      if (view.state.readOnly) return false;
      view.dispatch(view.state.replaceSelection("\n"), { scrollIntoView: true, userEvent: "input" });
      return true;
    };
    const enter = Prec.highest(keymap.of([{ key: "Enter", run: breakLine }]));
    return {
      id: "deskgym:enter",
      autoStart: true,
      requires: [IEditorExtensionRegistry],
      activate: (app, registry) => {
        registry.addExtension({
          name: "deskgym:enter",
          factory: () => ({ instance: () => enter, reconfigure: () => null }),
        });
      },
    };
  }

  // The title of a notebook's own window says which program it belongs to.
  function nameWindow() {
    const complete = () => {
      if (!document.title.includes("Jupyter")) document.title += " - Jupyter Notebook";
    };
    return {
      id: "deskgym:title",
      autoStart: true,
      activate: () => {
        complete();
        new MutationObserver(complete).observe(document.querySelector("title"), { childList: true });
      },
    };
  }

  // An emoji is no key press to the browser but a key down of an input method and an input event. The terminal takes
  // an input event only if it is not composed, and some time after such a key down guesses what has been typed.
  function sendEmoji() {
    const inTerminal = (event) => event.target.classList.contains("xterm-helper-textarea");
    const resend = (event) => {
      const emoji = event.composed && event.inputType === "insertText" && event.data?.codePointAt(0) > 0xffff;
      if (!emoji || !inTerminal(event)) return;
      event.stopImmediatePropagation();
      event.target.dispatchEvent(new InputEvent("input", { data: event.data, inputType: "insertText", bubbles: true }));
    };
    const hide = (event) => {
      if (event.keyCode === 229 && !event.isComposing && inTerminal(event)) event.stopImmediatePropagation();
    };
    return {
      id: "deskgym:emoji",
      autoStart: true,
      activate: () => {
        document.addEventListener("input", resend, true);
        document.addEventListener("keydown", hide, true);
      },
    };
  }

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["deskgym"] = {
    init: (scope) => {
      shared = scope;
    },
    get: async () => {
      const plugins = [await plainEnter(), nameWindow(), sendEmoji()];
      return () => ({ __esModule: true, default: plugins });
    },
  };
})();
