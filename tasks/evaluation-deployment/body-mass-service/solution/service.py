import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MODEL = json.loads(Path(__file__).with_name("model.json").read_text())
SPECIES = {name.lower(): name for name in MODEL["species"]}


def predict(bird):
    species = SPECIES.get(str(bird.get("species")).strip().lower())
    flipper = bird.get("flipper_mm")
    if species is None:
        return {"error": "unknown species"}
    if flipper is None:
        return {"error": "flipper_mm missing"}
    if not 150 <= flipper <= 250:
        return {"error": "flipper_mm out of range"}
    bill, sex = bird.get("bill_mm"), bird.get("sex")
    bill = MODEL["usual_bill"][species] if bill is None else bill
    sexes = MODEL["sex"]
    effect = sum(sexes.values()) / 2 if sex is None else sexes[sex]
    mass = MODEL["intercept"] + MODEL["flipper"] * flipper + MODEL["bill"] * bill + MODEL["species"][species] + effect
    return {"mass_g": round(mass, 1), "model": MODEL["version"]}


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/health":
            self.answer(200, {"status": "ok", "model": MODEL["version"]})
        else:
            self.answer(404, {"error": "not found"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")
        if self.path == "/predict":
            found = predict(body)
            self.answer(422 if "error" in found else 200, found)
        elif self.path == "/batch":
            self.answer(200, {"results": [predict(bird) for bird in body]})
        else:
            self.answer(404, {"error": "not found"})


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", 8765), Handler).serve_forever()
