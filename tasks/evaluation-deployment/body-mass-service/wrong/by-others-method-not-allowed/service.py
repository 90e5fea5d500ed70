import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MODEL = json.loads((Path(__file__).parent / "model.json").read_text())
SPECIES = {name.lower(): name for name in MODEL["species"]}
SEXES = MODEL["sex"]


def predict(bird):
    species = SPECIES.get(str(bird.get("species")).strip().lower())
    flipper = bird.get("flipper_mm")
    if species is None:
        return 422, {"error": "unknown species"}
    if flipper is None:
        return 422, {"error": "flipper_mm missing"}
    if not 150 <= flipper <= 250:
        return 422, {"error": "flipper_mm out of range"}
    bill = bird.get("bill_mm")
    if bill is None:
        bill = MODEL["usual_bill"][species]
    sex = bird.get("sex")
    of_sex = sum(SEXES.values()) / len(SEXES) if sex is None else SEXES[sex]
    mass = MODEL["intercept"] + MODEL["flipper"] * flipper + MODEL["bill"] * bill + MODEL["species"][species] + of_sex
    return 200, {"mass_g": round(mass, 1), "model": MODEL["version"]}


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def other(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(404, {"error": "not found"})

    def do_GET(self):
        if self.path in ("/predict", "/batch"):
            return self.answer(405, {"error": "method not allowed"})
        if self.path != "/health":
            return self.other()
        self.answer(200, {"status": "ok", "model": MODEL["version"]})

    def do_POST(self):
        if self.path not in ("/predict", "/batch"):
            return self.other()
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path == "/predict":
            self.answer(*predict(asked))
        else:
            self.answer(200, {"results": [predict(bird)[1] for bird in asked]})

    do_PUT = do_DELETE = do_PATCH = other


ThreadingHTTPServer(("127.0.0.1", 8765), Service).serve_forever()
