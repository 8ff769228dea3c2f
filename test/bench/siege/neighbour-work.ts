// The campaign runs and the rendered templates of the neighbour: a small run every two seconds,
// from its request until it is completed, and a render every half second.
import { setTimeout as wait } from 'node:timers/promises';
import type { BenchService } from '../svc-contender.ts';

export const runEachMs = 2000;
export const renderEachMs = 500;
const pollMs = 50;
const contacts = 3;
const tag = 'neighbour';

export interface NeighbourWork {
  /** Sends the campaign to its contacts; resolves with false unless every contact got it. */
  run(signal: AbortSignal): Promise<boolean>;
  /** Renders the template; resolves with false unless its values are in the answer. */
  render(signal: AbortSignal): Promise<boolean>;
}

interface Run {
  id: string;
  status: string;
  dispatchedCount: number;
}

/** Makes the contacts, the campaign and the template. */
export async function neighbourWork({ daemon, apiKey }: BenchService): Promise<NeighbourWork> {
  async function ask<T>(path: string, body?: object, signal?: AbortSignal): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${daemon.httpPort}/v1/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  for (let n = 0; n < contacts; n++) {
    await ask('contacts', { email: `reader${n}@example.com`, tags: [tag] });
  }
  const campaign = await ask<{ id: string }>('campaigns', {
    ...{ name: 'neighbour', channel: 'email', transactional: true },
    from: { email: 'bench@ed25519.bench.example' },
    email: { subject: 'News', text: 'Dear {{ contact.email }}, this is the news.' },
    audience: { includeTags: [tag] },
  });
  const template = await ask<{ id: string }>('templates', {
    ...{ slug: 'neighbour', subject: 'Order {{ number }}' },
    html: '<p>Order {{ number }}</p>{% for item in items %}<p>{{ item }}</p>{% endfor %}',
  });
  await ask(`templates/${template.id}/publish`, {});
  const items = Array.from({ length: 10 }, (_, n) => `Item ${n}`);
  let serial = 0;
  return {
    async run(signal) {
      let run = await ask<Run>(`campaigns/${campaign.id}/runs`, {}, signal);
      while (['scheduled', 'running'].includes(run.status)) {
        await wait(pollMs, null, { signal });
        run = await ask<Run>(`campaigns/${campaign.id}/runs/${run.id}`, undefined, signal);
      }
      return run.status === 'completed' && run.dispatchedCount === contacts;
    },
    async render(signal) {
      serial += 1;
      const number = serial;
      const data = { number, items };
      const path = `templates/${template.id}/render`;
      const { subject } = await ask<{ subject: string }>(path, { data }, signal);
      return subject === `Order ${number}`;
    },
  };
}
