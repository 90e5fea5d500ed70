# one function for all, sums by Decimal, a plain server
import json
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer

model = json.load(open("/home/user/project/model.json"))


def one(bird):
    known = [name for name in model["species"] if name.casefold() == str(bird.get("species") or "").strip().casefold()]
    if not known:
        return 422, {"error": "unknown species"}
    if bird.get("flipper_mm") is None:
        return 422, {"error": "flipper_mm missing"}
    if bird["flipper_mm"] < 150 or bird["flipper_mm"] > 250:
        return 422, {"error": "flipper_mm out of range"}
    bill = bird["bill_mm"] if bird.get("bill_mm") is not None else model["usual_bill"][known[0]]
    sex = model["sex"][bird["sex"]] if bird.get("sex") else (model["sex"]["female"] + model["sex"]["male"]) / 2
    terms = (model["intercept"], model["species"][known[0]], sex)
    mass = sum(Decimal(str(term)) for term in terms)
    mass += Decimal(str(model["flipper"])) * Decimal(str(bird["flipper_mm"]))
    mass += Decimal(str(model["bill"])) * Decimal(str(bill))
    return 200, {"model": model["version"], "mass_g": float(round(mass, 1))}


class Service(BaseHTTPRequestHandler):
    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        route = (self.command, self.path)
        if route == ("GET", "/health"):
            status, answer = 200, {"status": "ok", "model": model["version"]}
        elif route == ("POST", "/predict"):
            status, answer = one(json.loads(body))
        elif route == ("POST", "/batch"):
            status, answer = 200, {"results": [one(bird)[1] for bird in json.loads(body)]}
        else:
            status, answer = 404, {"error": "not found"}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    do_GET = do_POST = respond


HTTPServer(("localhost", 8765), Service).serve_forever()
