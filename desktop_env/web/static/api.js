// Asking the server. Everything is looked up by run, task and attempt.

export class Refused extends Error {}

async function answer(response) {
  const content = await response.json().catch(() => ({ error: response.statusText }));
  if (!response.ok) throw new Refused(content.error || response.statusText);
  return content;
}

export async function get(path, query = {}) {
  const text = new URLSearchParams(query).toString();
  return answer(await fetch(`/api/${path}${text ? `?${text}` : ""}`));
}

export async function annotate(run, content) {
  const response = await fetch(`/api/annotate?${new URLSearchParams({ run })}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(content),
  });
  return answer(response);
}

export const address = (what, episode, more = {}) => `/api/${what}?${new URLSearchParams({ ...episode, ...more })}`;
