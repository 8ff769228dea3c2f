// The attacks of a tenant by what is filled: texts that cost much to read, templates that cost much
// to fill, and runs whose audience and content are both slow.
import { setTimeout as wait } from 'node:timers/promises';
import type { Api } from './api.ts';
import type { Attack } from './attackers.ts';
import { times } from './http-attacks.ts';
import { contactTag, noteAtEnd } from './seed-contents.ts';
import type { Siege } from './siege.ts';

const fillsAtOnce = 40;
const slowRuns = 3;
const longestText = 120_000;
const units = ['{{', '{%', '{{ a | b: ', '{{ "', "{% assign a = '", '{% raw %}', '{%-'];
/** A loop of a third of a second; the bounds of a fill allow one. */
const heavy = '{% for i in (1..60000) %}{% assign x = i | times: 2 | append: "x" %}{% endfor %}x';
const pollMs = 1000;
/** Time after which a slow run is cancelled, and begun again. */
const runMs = 60_000;
/** A comparison with each note of each contact, 50 times. */
const slowQuery = {
  any: Array.from({ length: 50 }, (_, at) => ({
    field: 'profile.customFields.notes',
    contains: at === 49 ? noteAtEnd : `no${at}`,
  })),
};

export async function campaignAttacks(siege: Siege, api: Api): Promise<Record<string, Attack>> {
  const { apiKey: key, domain } = siege;
  const post = (path: string, body: object) =>
    api.ask(`/v1/${path}`, { method: 'POST', key, body });
  const make = async (path: string, body: object): Promise<string> => {
    const { status, text } = await post(path, body);
    if (status !== 201) throw new Error(`${path}: ${status} ${text.slice(0, 500)}`);
    return (JSON.parse(text) as { id: string }).id;
  };
  const campaignOf = (email: object, audience: object) => ({
    ...{ name: 'slow', channel: 'email', transactional: true, from: { email: `x@${domain}` } },
    ...{ email, audience },
  });
  const template = await make('templates', { slug: 'heavy', subject: 'x', html: heavy });
  await post(`templates/${template}/publish`, {});
  const groupId = await make('contact-groups', { name: 'Slow', query: slowQuery });
  const audience = { groupIds: [groupId] };
  const slow = await make('campaigns', campaignOf({ subject: 'x', text: heavy }, audience));
  let texts = 0;

  async function runSlow(): Promise<string> {
    const { status, text } = await post(`campaigns/${slow}/runs`, {});
    if (status !== 201) return String(status);
    const path = `campaigns/${slow}/runs/${(JSON.parse(text) as { id: string }).id}`;
    for (const endAt = performance.now() + runMs; performance.now() < endAt; ) {
      await wait(pollMs);
      const run = await api.json<{ status: string }>(`/v1/${path}`, key);
      if (!['scheduled', 'running'].includes(run.status)) return run.status;
    }
    return `cancelled ${(await post(`${path}/cancel`, {})).status}`;
  }

  return {
    ...times(2, 'campaign text', async () => {
      texts += 1;
      const unit = units[texts % units.length] ?? '{{';
      const email = { subject: 'x', text: unit.repeat(longestText / unit.length) };
      const made = await post('campaigns', campaignOf(email, { includeTags: [contactTag] }));
      return String(made.status);
    }),
    ...times(fillsAtOnce, 'template fill', async (n) =>
      String((await post(`templates/${template}/render`, { data: { n } })).status),
    ),
    ...times(slowRuns, 'slow campaign', runSlow),
  };
}
