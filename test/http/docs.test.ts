// The page /docs for its reader: as wide as a phone, and with curl commands that work once pasted. That
// it is complete and self-contained is openapi.test.ts.
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { docsPage } from '../../daemon/http/docs.ts';
import { eventKinds } from '../../daemon/http/event-kinds.ts';
import { openApiDocument } from '../../daemon/http/openapi.ts';
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../daemon/http/server.ts';
import type { Route } from '../../src/api/route.ts';
import { createAuthenticator } from '../../src/keys/authenticator.ts';
import { sendPayload } from '../../src/messages/send-schema.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { echo, httpService } from './http-service.ts';

const url = 'https://mail.acme.test';
const now = Date.UTC(2026, 10, 23);
const page = docsPage(openApiDocument(routes, url, eventKinds), now);
const withBody = routes.filter(({ body }) => body !== undefined);
const titled = (list: readonly Route[]) =>
  list.map((route) => [`${route.method} ${route.path}`, route] as const);

/** The curl commands of a page by operation, as a browser copies them. */
function commandsOf(html: string): Map<string, string> {
  const found = [
    ...html.matchAll(/<section id="(\w+)">(?:(?!<\/section>)[\s\S])*<pre>([^<]*)<\/pre>/g),
  ];
  const plain = (text: string) =>
    text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
  return new Map(found.map(([, name = '', text = '']) => [name, plain(text)]));
}

const nextCommand = 'the next command';

/** Returns the arguments of each curl when one shell runs all of these commands. */
function argumentsOfAll(commands: readonly string[]): string[][] {
  const shown = [`curl() { printf '%s\\0' "$@" '${nextCommand}'; }`, ...commands].join('\n');
  const ids = {
    ID: 'the-id',
    DELIVERY_ID: 'the-delivery',
    ADDRESS_ID: 'the-address',
    ACTION_ID: 'the-action',
    MESSAGE_ID: 'the-message',
    DRAFT_ID: 'the-draft',
    THREAD_ID: 'the-thread',
    NOTE_ID: 'the-note',
    N: '1',
  };
  const env = { SVC_API_KEY: 'svc_live_1', ...ids };
  const given = execFileSync('sh', ['-c', shown], { env, encoding: 'utf8' });
  return given
    .split(`${nextCommand}\0`)
    .slice(0, -1)
    .map((one) => one.split('\0').slice(0, -1));
}

/** Returns the arguments of curl when a shell runs the command. */
const argumentsOf = (command: string): string[] => argumentsOfAll([command])[0] ?? [];

/** The same of all commands of a page, by operation. */
function argumentsOn(commands: ReadonlyMap<string, string>): Map<string, string[]> {
  const all = argumentsOfAll([...commands.values()]);
  expect(all).toHaveLength(commands.size);
  return new Map([...commands.keys()].map((name, index) => [name, all[index] ?? []]));
}

/** Returns the argument of `-d`. */
const bodyIn = (given: readonly string[]) => given[given.indexOf('-d') + 1] ?? '';

const commands = commandsOf(page);
const givenOnPage = argumentsOn(commands);
const givenFor = ({ name }: Route): string[] => {
  const found = givenOnPage.get(name);
  if (found === undefined) throw new Error(`the page has no curl command for ${name}`);
  return found;
};

describe('the curl command of', () => {
  it.each(titled(routes))('%s is read by a shell as method, address and key', (_name, route) => {
    const given = givenFor(route);
    const path = route.path
      .replace('{id}', 'the-id')
      .replace('{deliveryId}', 'the-delivery')
      .replace('{addressId}', 'the-address')
      .replace('{actionId}', 'the-action')
      .replace('{draftId}', 'the-draft')
      .replace('{threadId}', 'the-thread')
      .replace('{noteId}', 'the-note')
      .replace('{messageId}', 'the-message')
      .replace('{n}', '1');
    expect(given.slice(0, 5)).toEqual([
      '-X',
      route.method,
      `${url}${path}`,
      '-H',
      'X-API-Key: svc_live_1',
    ]);
    expect(given.includes('-d')).toBe(route.body !== undefined);
  });

  it.each(titled(withBody))('%s has a body that its schema takes', (_name, route) => {
    const given = givenFor(route);
    const body = JSON.parse(bodyIn(given));
    expect(given).toContain('Content-Type: application/json');
    expect(route.body?.safeParse(body)).toMatchObject({ success: true });
    expect(Object.keys(body).length).toBeGreaterThan(0);
  });

  it('a batch has sends that each could go alone', () => {
    const batch = JSON.parse(bodyIn(argumentsOf(commands.get('sendMessageBatch') ?? '')));
    expect(batch.map((send: unknown) => sendPayload.safeParse(send).success)).toEqual([true, true]);
  });

  it('every operation is on the page once', () => {
    expect(withBody.length).toBeGreaterThan(10);
    expect([...commands.keys()].sort()).toEqual(routes.map(({ name }) => name).sort());
  });

  it('a schedule lies a week ahead', () => {
    const command = commands.get('scheduleMessage') ?? '';
    expect(JSON.parse(bodyIn(argumentsOf(command)))).toMatchObject({
      to: [{ email: 'inbox@sandbox.test' }],
      scheduledFor: '2026-11-30T00:00:00.000Z',
    });
  });

  it('texts from a schema or a configuration stay one argument', () => {
    const text = `it's "$(id)" \`id\` \\ !`;
    const body = echo.body?.meta({ examples: [{ text }] });
    const hostile = openApiDocument([{ ...echo, ...(body && { body }) }], 'http://x/"$(id)`id`\\');
    const [command = ''] = commandsOf(docsPage(hostile, now)).values();
    const given = argumentsOf(command);
    expect(given[2]).toBe('http://x/"$(id)`id`\\/v1/things/the-id/echo');
    expect(JSON.parse(bodyIn(given))).toEqual({ text });
  });
});

describe('pasted at a new service', () => {
  let service: TestApp;
  let http: HttpServer;
  let shown: ReturnType<typeof argumentsOn>;

  beforeAll(async () => {
    service = await testApp({ config: { http: { publicUrl: url } } });
    const authenticator = createAuthenticator(service.app);
    http = createHttpServer(service.app, {
      routes,
      authenticate: (plaintext) => authenticator.authenticate(plaintext),
      isQueueRunning: () => true,
    });
    shown = argumentsOn(commandsOf((await http.inject({ url: '/docs' })).body));
  });

  afterAll(async () => {
    await http.close();
    await service.close();
  });

  // Only a rejected organization may apply again; an example names a domain that does not exist here.
  const other = new Map([
    ['reapplyForOnboardingReview', 409],
    ['enableCatchAll', 404],
    ['disableCatchAll', 404],
  ]);

  it.each(titled(routes.filter(({ path }) => !path.includes('{'))))(
    '%s does what it says',
    async (_name, route) => {
      const given = shown.get(route.name) ?? [];
      const response = await http.inject({
        method: route.method,
        url: new URL(given[2] ?? '').pathname,
        headers: {
          'x-api-key': service.apiKey,
          ...(route.body && { 'content-type': 'application/json' }),
          ...(route.takes && { 'content-type': route.takes.types[0] }),
        },
        ...(route.body && { payload: bodyIn(given) }),
        // The file that the command names is the reader's own.
        ...(route.takes && { payload: 'email\nimported@example.com\n' }),
      });
      const { _tag, message } = route.streams ? {} : response.json();
      expect([response.statusCode, _tag && (message ?? _tag)]).toEqual([
        other.get(route.name) ?? route.status,
        other.has(route.name) ? expect.any(String) : undefined,
      ]);
    },
  );
});

it('the page of another day schedules for another day', async () => {
  const service = await httpService({ routes });
  const scheduled = async () => {
    const { body } = await service.http.inject({ url: '/docs' });
    return /scheduledFor[^T]*?(\d{4}-\d\d-\d\d)T/.exec(body.replaceAll('&#34;', '"'))?.[1];
  };
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const week = 7 * 86_400_000;
  expect(await scheduled()).toBe(day(service.clock.now() + week));
  await service.clock.advance(2 * 86_400_000);
  expect(await scheduled()).toBe(day(service.clock.now() + week));
  await service.close();
});

describe('at a width of 400 px', () => {
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
  const width = 400;

  /** All declarations of a selector that hold at this width, later ones over earlier ones. */
  function ruleOf(selector: string): Record<string, string> {
    const applying = style.replace(
      /@media ([^{]+)\{((?:[^{}]*\{[^{}]*\})*)[^{}]*\}/g,
      (_, query: string, rules: string) => (holds(query) ? rules : ''),
    );
    const rules = [...applying.matchAll(/([^{}]+)\{([^{}]*)\}/g)].filter(([, selectors = '']) =>
      selectors.split(',').some((one) => one.trim() === selector),
    );
    const declarations = rules.flatMap(([, , text = '']) => text.split(';'));
    return Object.fromEntries(
      declarations
        .map((one) => one.split(':').map((part) => part.trim()))
        .filter(([name, value]) => name && value),
    );
  }

  const holds = (query: string) => {
    const [, rem] = /max-width: (\d+)rem/.exec(query) ?? [];
    return rem !== undefined && Number(rem) * 16 >= width;
  };

  it('the window says how wide it is', () => {
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
  });

  it('code scrolls by itself, and any long word breaks', () => {
    expect(ruleOf('pre')).toMatchObject({ 'overflow-x': 'auto' });
    expect(ruleOf('body')).toMatchObject({ 'overflow-wrap': 'anywhere', display: 'block' });
    expect(style).not.toMatch(/white-space:|overflow-wrap: normal|word-break: keep-all/);
  });

  it('tables are lists: a cell under the other', () => {
    for (const part of ['table', 'tbody', 'tr', 'td']) {
      expect([part, ruleOf(part).display]).toEqual([part, 'block']);
    }
    expect(ruleOf('thead').display).toBe('none');
  });

  it('the navigation is folded until it is asked for', () => {
    expect(ruleOf('nav')).toMatchObject({ position: 'static', height: 'auto' });
    expect(ruleOf('#menu').display).toBe('inline');
    expect(ruleOf('#menu:not(:checked) ~ div').display).toBe('none');
    const [, folded = ''] =
      /<nav>.*?<input type="checkbox" id="menu">.*?<div>(.*?)<\/div><\/nav>/s.exec(page) ?? [];
    expect(folded.match(/<a /g)?.length).toBeGreaterThan(routes.length);
  });

  it('nothing is wider than the window by a rule or an attribute', () => {
    const sizes = [
      ...style.matchAll(/(?<!max-)(?:width|flex|flex-basis|padding|margin): *([^;}]+)/g),
    ];
    expect(sizes.length).toBeGreaterThan(5);
    for (const [rule, value = ''] of sizes) {
      for (const [, number, unit] of value.matchAll(/([\d.]+)(px|rem|em|ch|vw)/g)) {
        const pixels = Number(number) * (unit === 'px' ? 1 : unit === 'vw' ? 4 : 16);
        expect([rule, pixels <= width]).toEqual([rule, true]);
      }
    }
    expect(page).not.toMatch(/<[^>]+ (?:style|width)=/);
  });
});
