"""Jupyter on a machine of one user: loopback, no token, the desktop's browser."""

c = get_config()  # noqa: F821

c.ServerApp.ip = "127.0.0.1"
c.ServerApp.browser = "google-chrome --new-window %s"
c.IdentityProvider.token = ""
c.PasswordIdentityProvider.password_required = False
c.PasswordIdentityProvider.hashed_password = ""
c.ServerApp.jpserver_extensions = {"jupyter_lsp": False}
c.ServerApp.terminado_settings = {"shell_command": ["/bin/bash"]}
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.news_url = None
c.LabApp.extension_manager = "readonly"
