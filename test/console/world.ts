// A service with its console for tests: pages over HTTP without a socket, as a browser asks for
// them.
import { parse } from 'parse5';
import { Refusal } from '../../daemon/console/api.ts';
import { isKnownLink } from '../../daemon/console/html.ts';
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../daemon/http/server.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { createKey } from '../../src/access/keys/keys.ts';
import { makeLink } from '../../src/access/sessions/sessions.ts';
import type { Permission } from '../../src/core/api/permission.ts';
import type { ConfigInput } from '../../src/core/config/config.ts';
import type { TestStore } from '../support/command.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

export interface Answer {
  status: number;
  body: string;
  headers: Record<string, unknown>;
}

/** A browser with a cookie. */
export interface Browser {
  cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /**
   * Posts a form of the last page; its token comes with it unless the fields have another.
   */
  post(
    path: string,
    fields: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

/** A resource, as far as tests read it. */
export interface Made {
  id: string;
  key?: string;
  messageId?: string;
  items?: readonly { id: string }[];
}

export interface World {
  test: TestApp;
  http: HttpServer;
  browser(cookie?: string): Browser;
  /** Signs in by a key. */
  signIn(key: string): Promise<Browser>;
  /** Signs in by a link, as the operator. */
  operator(): Promise<Browser>;
  /** Asks a route as the owner. @throws Refusal for an answer of 400 or more */
  api(method: 'GET' | 'POST', path: string, body?: object, key?: string): Promise<Made>;
  /** Returns the id of the first mailbox. */
  firstMailbox(): Promise<string>;
  /** Makes a key with exactly these permissions. */
  keyWith(...permissions: readonly Permission[]): Promise<{ id: string; key: string }>;
  close(): Promise<void>;
}

const formTokenIn = (page: string) => /name="_form" value="([^"]*)"/.exec(page)?.[1];

export async function consoleWorld(
  store: TestStore = 'sqlite',
  config: ConfigInput = {},
): Promise<World> {
  return consoleOver(await testApp({ store, config }));
}

/** Makes the console of a service. */
export function consoleOver(test: TestApp): World {
  const authenticator = createAuthenticator(test.app);
  const http = createHttpServer(test.app, {
    routes,
    authenticate: (key) => authenticator.authenticate(key),
    sessions: authenticator,
    isQueueRunning: () => true,
  });
  const ask = async (
    method: 'GET' | 'POST',
    url: string,
    headers: Record<string, string>,
    payload?: string,
  ): Promise<Answer> => {
    const answer = await http.inject({
      method,
      url,
      headers,
      ...(payload !== undefined && { payload }),
    });
    return { status: answer.statusCode, body: answer.body, headers: answer.headers };
  };
  const browser = (cookie = ''): Browser => {
    const own = { ...(cookie && { cookie }) };
    /** The token of the forms of the last page, as a person posts a form of the page in sight. */
    let seen: string | undefined;
    const get: Browser['get'] = async (path, headers = {}) => {
      const page = await ask('GET', path, { ...own, ...headers });
      // A page for strangers comes with a cookie for its form.
      const isOwn = page.headers['set-cookie'] === undefined;
      seen = isOwn ? (formTokenIn(page.body) ?? seen) : undefined;
      return page;
    };
    /** Returns a token for a form and its cookie; a stranger gets both with a page. */
    const formIn = async (): Promise<[token: string, cookie: string]> => {
      if (cookie && seen !== undefined) return [seen, cookie];
      const page = await get('/console');
      const [made = ''] = String(page.headers['set-cookie'] ?? cookie).split(';');
      return [formTokenIn(page.body) ?? '', made];
    };
    return {
      cookie,
      get,
      async post(path, fields, headers = {}) {
        const [token, sent] = await formIn();
        // A switch changes the organization, which the token names.
        if (path === '/console/switch') seen = undefined;
        const form = new URLSearchParams({ _form: token, ...fields }).toString();
        const type = 'application/x-www-form-urlencoded';
        return ask('POST', path, { cookie: sent, 'content-type': type, ...headers }, form);
      },
    };
  };
  const api: World['api'] = async (method, url, body, key = test.apiKey) => {
    const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) };
    const payload = body && JSON.stringify(body);
    const answer = await http.inject({ method, url, headers, ...(payload && { payload }) });
    if (answer.statusCode >= 400) {
      throw new Refusal(answer.statusCode, { message: `${url}: ${answer.body}` }, '');
    }
    return answer.json();
  };
  return {
    test,
    http,
    browser,
    async signIn(key) {
      const { headers } = await browser().post('/console/sign-in', { key });
      const [cookie = ''] = String(headers['set-cookie'] ?? '').split(';');
      return browser(cookie);
    },
    async operator() {
      const link = await makeLink(test.app, test.caller.organizationId);
      const { headers } = await browser().post(`/console/open/${link}`, {});
      const [cookie = ''] = String(headers['set-cookie'] ?? '').split(';');
      return browser(cookie);
    },
    api,
    async firstMailbox() {
      const { items } = await api('GET', '/v1/mailboxes');
      return items?.[0]?.id ?? '';
    },
    async keyWith(...permissions) {
      const map: Record<string, string[]> = {};
      for (const permission of permissions) {
        const [resource = '', action = ''] = permission.split(':');
        map[resource] = [...(map[resource] ?? []), action];
      }
      const { id, key } = await createKey(test.app, test.operator, { name: 'k', permissions: map });
      return { id, key: key ?? '' };
    },
    async close() {
      await http.close(0).catch(() => {});
      await test.close();
    },
  };
}

interface Node {
  nodeName: string;
  /** Text of a text node. */
  value?: string;
  attrs?: readonly { name: string; value: string }[];
  childNodes?: readonly Node[];
}

let lastParsed: { page: string; all: Node[] } | undefined;

/** Returns every element of a page. Most tests ask several times about the same page. */
export function elementsOf(page: string): readonly Node[] {
  if (lastParsed?.page === page) return lastParsed.all;
  const all: Node[] = [];
  const visit = (node: Node) => {
    if (node.attrs) all.push(node);
    for (const child of node.childNodes ?? []) visit(child);
  };
  visit(parse(page) as Node);
  lastParsed = { page, all };
  return all;
}

const handler = /^on|^srcdoc$|^style$/;
const target = /^(?:href|src|action|formaction)$/;

/**
 * Returns the attributes of a page that would run a script, or lead to a link of another kind. They
 * are listed, because an assertion for each attribute takes longer than the page.
 */
export function liveAttributesOf(page: string): string[] {
  const isLive = ({ name, value }: { name: string; value: string }) =>
    handler.test(name) || (target.test(name) && !isKnownLink(value));
  return elementsOf(page).flatMap(({ nodeName, attrs = [] }) =>
    attrs.filter(isLive).map(({ name, value }) => `${nodeName} ${name}=${value}`),
  );
}

const attributeOf = ({ attrs = [] }: Node, name: string) =>
  attrs.find((one) => one.name === name)?.value;

function below(node: Node): Node[] {
  return (node.childNodes ?? []).flatMap((child) => [child, ...below(child)]);
}

const textOf = (node: Node) =>
  below(node)
    .map(({ value = '' }) => value)
    .join('');

/**
 * Returns what a browser sends for a field, of one line without its breaks; null for an unchecked
 * box.
 */
function sentBy(node: Node): string | null {
  if (node.nodeName === 'textarea') return textOf(node);
  if (node.nodeName === 'select') {
    const options = below(node).filter(({ nodeName }) => nodeName === 'option');
    const chosen = options.find((one) => attributeOf(one, 'selected') !== undefined) ?? options[0];
    return chosen ? (attributeOf(chosen, 'value') ?? textOf(chosen)) : '';
  }
  const value = attributeOf(node, 'value') ?? '';
  const type = attributeOf(node, 'type') ?? 'text';
  if (type === 'checkbox') return attributeOf(node, 'checked') === undefined ? null : value;
  return type === 'hidden' ? value : value.replaceAll(/[\r\n]/g, '');
}

/**
 * Returns the fields that a browser sends for the button of an action; null for a page without it.
 */
export function formOf(page: string, action: string): Record<string, string> | null {
  const posted = elementsOf(page).filter(
    (node) => node.nodeName === 'form' && attributeOf(node, 'method') === 'post',
  );
  const isOf = (node: Node) =>
    attributeOf(node, 'name') === '_action' && attributeOf(node, 'value') === action;
  const found = posted.find((node) => below(node).some(isOf));
  if (!found) return null;
  const sent: Record<string, string> = {};
  for (const node of below(found)) {
    const name = attributeOf(node, 'name');
    const isField = ['input', 'textarea', 'select'].includes(node.nodeName);
    const value = isField && name !== undefined ? sentBy(node) : null;
    if (name !== undefined && value !== null) sent[name] = value;
  }
  return { ...sent, _action: action };
}

/** Returns the problem that a page tells of; undefined without one. */
export function problemOf(page: string): string | undefined {
  const found = elementsOf(page).find((node) => attributeOf(node, 'class') === 'problem');
  return found && textOf(found);
}
