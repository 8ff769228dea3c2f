// The faces by which an agent writes: HTTP, MCP and the forms of the console.
import { pages } from '../../../daemon/console/pages/pages.ts';
import { routes } from '../../../daemon/http/routes.ts';
import { allTools } from '../../../daemon/mcp/tools.ts';
import type { Route } from '../../../src/core/api/route.ts';
import { type Browser, formOf, type World } from '../../console/world.ts';
import type { Call, Hostile, Targets } from './hostile-call.ts';
import { hostileWrites } from './hostile-writes.ts';

/** A key with limits, as a program uses it. */
export interface Agent {
  kind: string;
  key: string;
  /** Cookie of its session in the console. */
  cookie: string;
  /** Token of the forms of that session. */
  formToken: string;
}

/** An answer to an attack. */
export interface Attacked {
  name: string;
  status: number;
  body: string;
}

type Attack = (agent: Agent, things: Targets, hostile: Hostile) => Promise<Attacked[]>;

const json = 'application/json';

/** Returns the write routes of the API by `METHOD path`. */
export function writeRoutes(): Map<string, Route> {
  const writes = routes.filter(({ method }) => method !== 'GET');
  return new Map(writes.map((route) => [`${route.method} ${route.path}`, route]));
}

/** Asks one route over HTTP. */
export async function askOverHttp(
  { http }: World,
  key: string,
  name: string,
  { params = {}, query = {}, body, type = json }: Call,
): Promise<Attacked> {
  const [method, path = ''] = name.split(' ');
  const search = new URLSearchParams(query).toString();
  const url = path.replaceAll(/\{(\w+)\}/g, (_, part: string) => params[part] ?? 'x');
  const payload = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const answer = await http.inject({
    method: method as 'POST',
    url: search === '' ? url : `${url}?${search}`,
    headers: { 'x-api-key': key, ...(payload !== undefined && { 'content-type': type }) },
    ...(payload !== undefined && { payload }),
  });
  return { name, status: answer.statusCode, body: answer.body };
}

/**
 * Writes over HTTP: each call as it is, and once more with a value of another kind in one field.
 */
export function overHttp(world: World, pick: (count: number) => number): Attack {
  const wrong = ['\r\nBcc: xq@evil.example', 'x'.repeat(100_000), { $ne: null }, -1, null, [[]]];
  const spoilt = (call: Call): Call => {
    const { body } = call;
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return call;
    const names = Object.keys(body);
    const name = names[pick(names.length)] ?? 'subject';
    return { ...call, body: { ...body, [name]: wrong[pick(wrong.length)] } };
  };
  return async ({ key }, things, hostile) => {
    const answers: Attacked[] = [];
    for (const [name, callsOf] of Object.entries(hostileWrites)) {
      const calls = await callsOf(things, hostile);
      const [first = {}] = calls;
      for (const call of [spoilt(first), ...calls]) {
        answers.push(await askOverHttp(world, key, name, call));
      }
    }
    return answers;
  };
}

/** Calls every tool that writes, also those that MCP does not offer to the key. */
export function overMcp({ http }: World): Attack {
  return async ({ key }, things, hostile) => {
    const answers: Attacked[] = [];
    for (const { name: tool, route, fields } of allTools()) {
      const name = `${route.method} ${route.path}`;
      const callsOf = hostileWrites[name];
      if (route.method === 'GET' || !callsOf) continue;
      for (const { params, query, body } of await callsOf(things, hostile)) {
        const parts = fields.body === 'whole' ? { body } : (body as object | undefined);
        const call = { name: tool, arguments: { ...params, ...query, ...parts } };
        const answer = await http.inject({
          ...{ method: 'POST', url: '/mcp' },
          headers: {
            ...{ authorization: `Bearer ${key}`, accept: `${json}, text/event-stream` },
            'content-type': json,
          },
          payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
        });
        answers.push({ name: `${tool} (tool)`, status: answer.statusCode, body: answer.body });
      }
    }
    return answers;
  };
}

/** Actions that end a resource, or make it unusable. */
const ending = new Set([
  ...['delete', 'archive', 'revoke', 'disable', 'uninstall', 'cancel', 'reject', 'active'],
  ...['remove', 'discard', 'forget'],
]);

/** Ids for the path of a page; spare ids for an action that ends a resource. */
function placesOf(path: string, action: string, things: Targets): Record<string, string>[] {
  const [, area = '', kind = ''] = path.split('/');
  const isEnding = ending.has(action);
  const spared = (id: string, spare: string) => [{ id: isEnding ? spare : id }];
  if (area === 'mailboxes') {
    const { mailbox: id, thread: threadId, spareMailbox, spareThread } = things;
    if (path.includes(':draftId')) {
      const ended = action === 'send' ? things.spareDraft : things.endedDraft;
      const drafts = action === 'save' ? [things.draft, things.agentDraft] : [ended];
      return drafts.map((draftId) => ({ id, draftId }));
    }
    return isEnding ? [{ id: spareMailbox, threadId: spareThread }] : [{ id, threadId }];
  }
  if (area === 'review') {
    return [{ mailboxId: things.mailbox, id: isEnding ? things.spareAction : things.action }];
  }
  if (path.includes(':runId')) return [{ id: things.spareCampaign, runId: things.spareRun }];
  if (path.includes(':deliveryId')) return [{ id: things.webhook, deliveryId: things.delivery }];
  if (path.includes(':extensionId')) return [{ extensionId: things.spareExtension }];
  if (area === 'brands') return [{ slug: isEnding ? things.spareBrand : things.brand }];
  if (kind === 'unsubscribing') return spared(things.group, things.spareGroup);
  const pairs: Record<string, [string, string]> = {
    campaigns: [things.campaign, things.spareCampaign],
    contacts: [things.contact, things.spareContact],
    conversations: [things.conversation, things.spareConversation],
    domains: [things.spareDomain, things.spareDomain],
    extensions: [things.installation, things.spareInstallation],
    groups: [things.contacts, things.spareContacts],
    keys: [things.key, things.spareKey],
    messages: [things.spareMessage, things.spareMessage],
    senders: [things.sender, things.spareSender],
    templates: [things.template, things.spareTemplate],
    webhooks: [things.webhook, things.spareWebhook],
  };
  const [id = '', spare = ''] = pairs[area] ?? [];
  return spared(id, spare);
}

/** Fields that name the state of a resource. */
const ofNow = new Set(['updatedAt', 'digest', 'once', 'revision', 'expectedRevision', 'version']);

/** Makes the hostile value of a field of a form; null for a field that stays. */
function hostileField(name: string, value: string, hostile: Hostile): string | null {
  if (['to', 'cc', 'bcc', 'email', 'address', 'replyToEmails'].includes(name)) {
    return hostile.address();
  }
  if (['slug', 'label'].includes(name)) return hostile.name();
  if (name === 'html') return hostile.html();
  const lines = ['subject', 'text', 'name', 'displayName', 'fromName', 'note', 'title', 'body'];
  const isLine = lines.includes(name) || ['description', 'footer', 'companyName'].includes(name);
  return isLine || value === '' ? hostile.line() : null;
}

/**
 * Posts every form of the console: the fields are those that a person is shown, as an agent without
 * the right sees no form.
 */
export function overConsole({ http }: World, person: Browser): Attack {
  const post = async (agent: Agent, path: string, fields: Record<string, string>) => {
    const answer = await http.inject({
      ...{ method: 'POST', url: path },
      headers: { cookie: agent.cookie, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ ...fields, _form: agent.formToken }).toString(),
    });
    return { status: answer.statusCode, body: answer.body };
  };
  /** Forms with constant fields, by page and action. */
  const known = new Map<string, Record<string, string>>();
  const formOn = async (url: string, action: string): Promise<Record<string, string>> => {
    const name = `${url} ${action}`;
    const shown = known.get(name) ?? formOf((await person.get(url)).body, action);
    if (shown && !Object.keys(shown).some((field) => ofNow.has(field))) known.set(name, shown);
    return shown ?? { _action: action };
  };
  return async (agent, things, hostile) => {
    const answers: Attacked[] = [];
    for (const { path, actions = {} } of pages) {
      for (const action of Object.keys(actions)) {
        for (const ids of placesOf(path, action, things)) {
          const url = `/console${path.replaceAll(/:(\w+)/g, (_, part: string) => ids[part] ?? 'x')}`;
          const shown = await formOn(url, action);
          const filled = Object.entries(shown).map(([name, value]) => {
            const isKept = name.startsWith('_') || ofNow.has(name);
            return [name, (isKept ? null : hostileField(name, value, hostile)) ?? value] as const;
          });
          const name = `${path} ${action} (console)`;
          answers.push({ name, ...(await post(agent, url, Object.fromEntries(filled))) });
        }
      }
    }
    return answers;
  };
}
