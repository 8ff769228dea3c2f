// The pages of /docs for their reader: as narrow as a phone, and with curl commands that work when
// pasted. Its completeness is tested in openapi.test.ts.
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventKinds } from '../../daemon/http/event-kinds.ts';
import { drawReference } from '../../daemon/http/openapi/docs.ts';
import { type OpenApiDocument, openApiDocument } from '../../daemon/http/openapi/openapi.ts';
import { plainPaths } from '../../daemon/http/openapi/plain-routes.ts';
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../daemon/http/server.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import type { Route } from '../../src/core/api/route.ts';
import { sendPayload } from '../../src/outbound/messages/send-schema.ts';
import { atOnce } from '../../src/platform/runtime/fairness/loop-turns.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { echo, httpService } from './http-service.ts';

const url = 'https://mail.acme.test';
const now = Date.UTC(2026, 10, 23);
const pagesOf = (shown: OpenApiDocument, at: number) =>
  atOnce(drawReference(shown, { now: at, productVersion: '1.2.3' })).pages;
const document = openApiDocument(routes, url, eventKinds);
const pages = pagesOf(document, now);
const allPages = [...pages.values()].join('');
const page = pages.get('/docs') ?? '';
const withBody = routes.filter(({ body }) => body !== undefined);
const titled = (list: readonly Route[]) =>
  list.map((route) => [`${route.method} ${route.path}`, route] as const);

/** Extracts the curl commands of pages by operation, as a browser copies them. */
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
    VERSION: '1.4.0',
    DELIVERY_ID: 'the-delivery',
    ADDRESS_ID: 'the-address',
    ACTION_ID: 'the-action',
    MESSAGE_ID: 'the-message',
    DRAFT_ID: 'the-draft',
    THREAD_ID: 'the-thread',
    NOTE_ID: 'the-note',
    RUN_ID: 'the-run',
    FAMILY_ID: 'the-family',
    TEMPLATE_ID: 'the-template',
    SLUG: 'the-slug',
    N: '1',
  };
  const env = { SVC_API_KEY: 'svc_live_1', ...ids };
  const given = execFileSync('sh', ['-c', shown], { env, encoding: 'utf8' });
  return given
    .split(`${nextCommand}\0`)
    .slice(0, -1)
    .map((text) => text.split('\0').slice(0, -1));
}

/** Returns the arguments of curl when a shell runs the command. */
const argumentsOf = (command: string): string[] => argumentsOfAll([command])[0] ?? [];

/** Returns the arguments of all commands of a page, by operation. */
function argumentsOn(commands: ReadonlyMap<string, string>): Map<string, string[]> {
  const all = argumentsOfAll([...commands.values()]);
  expect(all).toHaveLength(commands.size);
  return new Map([...commands.keys()].map((name, index) => [name, all[index] ?? []]));
}

/** Returns the argument of `-d`. */
const bodyIn = (given: readonly string[]) => given[given.indexOf('-d') + 1] ?? '';

const commands = commandsOf(allPages);
const givenOnPage = argumentsOn(commands);
const givenFor = ({ name }: Route): string[] => {
  const found = givenOnPage.get(name);
  if (found === undefined) throw new Error(`the page has no curl command for ${name}`);
  return found;
};

describe('the curl commands of the page', () => {
  it.each(titled(routes))('have method, address and key for %s', (_name, route) => {
    const given = givenFor(route);
    const path = route.path
      .replace('{id}', 'the-id')
      .replace('{deliveryId}', 'the-delivery')
      .replace('{addressId}', 'the-address')
      .replace('{actionId}', 'the-action')
      .replace('{draftId}', 'the-draft')
      .replace('{threadId}', 'the-thread')
      .replace('{noteId}', 'the-note')
      .replace('{runId}', 'the-run')
      .replace('{messageId}', 'the-message')
      .replace('{familyId}', 'the-family')
      .replace('{templateId}', 'the-template')
      .replace('{version}', '1.4.0')
      .replace('{slug}', 'the-slug')
      .replace('{n}', '1');
    const queries: Record<string, string> = {
      expectMessage: '?to=inbox%40sandbox.test',
      getBreakdown: '?by=campaign',
    };
    const query = queries[route.name] ?? '';
    expect(given.slice(0, 5)).toEqual([
      '-X',
      route.method,
      `${url}${path}${query}`,
      '-H',
      'X-API-Key: svc_live_1',
    ]);
    expect(given.includes('-d')).toBe(route.body !== undefined);
  });

  it.each(titled(withBody))('have a valid body for %s', (_name, route) => {
    const given = givenFor(route);
    const body = JSON.parse(bodyIn(given));
    expect(given).toContain('Content-Type: application/json');
    expect(route.body?.safeParse(body)).toMatchObject({ success: true });
    expect(Object.keys(body).length).toBeGreaterThan(0);
  });

  it('send a batch of sends that are each valid', () => {
    const batch = JSON.parse(bodyIn(argumentsOf(commands.get('sendMessageBatch') ?? '')));
    expect(batch.map((send: unknown) => sendPayload.safeParse(send).success)).toEqual([true, true]);
  });

  it('cover every operation once', () => {
    expect(withBody.length).toBeGreaterThan(10);
    const names = [...routes, ...plainPaths].map(({ name }) => name);
    expect(commands.size).toBe(names.length);
    expect(new Set(commands.keys())).toEqual(new Set(names));
  });

  it('schedule a week ahead', () => {
    const command = commands.get('scheduleMessage') ?? '';
    expect(JSON.parse(bodyIn(argumentsOf(command)))).toMatchObject({
      to: [{ email: 'inbox@sandbox.test' }],
      scheduledFor: '2026-11-30T00:00:00.000Z',
    });
  });

  it('keep texts of a schema or the configuration as one argument', () => {
    const text = `it's "$(id)" \`id\` \\ !`;
    const body = echo.body?.meta({ examples: [{ text }] });
    const hostile = openApiDocument([{ ...echo, ...(body && { body }) }], 'http://x/"$(id)`id`\\');
    const [command = ''] = commandsOf([...pagesOf(hostile, now).values()].join('')).values();
    const given = argumentsOf(command);
    expect(given[2]).toBe('http://x/"$(id)`id`\\/v1/things/the-id/echo');
    expect(JSON.parse(bodyIn(given))).toEqual({ text });
  });
});

describe('the curl commands of a new service', () => {
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
    const answers = await Promise.all([...pages.keys()].map((path) => http.inject({ url: path })));
    shown = argumentsOn(commandsOf(answers.map(({ body }) => body).join('')));
  });

  afterAll(async () => {
    await http.close();
    await service.close();
  });

  // Only a rejected organization may apply again; an example names a domain that does not exist
  // here.
  const other = new Map([
    ['reapplyForOnboardingReview', 409],
    ['enableCatchAll', 404],
    ['disableCatchAll', 404],
    ['createExtensionInstallation', 404],
    // The caller is a key of a person.
    ['getOwnExtensionInstallation', 404],
  ]);

  it.each(titled(routes.filter(({ path }) => !path.includes('{'))))(
    'succeed for %s',
    async (_name, route) => {
      const given = shown.get(route.name) ?? [];
      const { pathname, searchParams } = new URL(given[2] ?? '');
      if (route.waits) searchParams.set('within', '0');
      const response = await http.inject({
        method: route.method,
        url: `${pathname}?${searchParams}`,
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

it('the page of a later day schedules for a later day', async () => {
  const service = await httpService({ routes });
  const scheduled = async () => {
    const { body } = await service.http.inject({ url: '/docs/messages' });
    return /scheduledFor[^T]*?(\d{4}-\d\d-\d\d)T/.exec(body.replaceAll('&#34;', '"'))?.[1];
  };
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const week = 7 * 86_400_000;
  expect(await scheduled()).toBe(day(service.clock.now() + week));
  await service.clock.advance(2 * 86_400_000);
  expect(await scheduled()).toBe(day(service.clock.now() + week));
  await service.close();
});

describe('the page at a width of 400 px', () => {
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
  const width = 400;

  /**
   * Returns the declarations of a selector that apply at this width, later ones over earlier ones.
   */
  function ruleOf(selector: string): Record<string, string> {
    const applying = style.replace(
      /@media ([^{]+)\{((?:[^{}]*\{[^{}]*\})*)[^{}]*\}/g,
      (_, query: string, rules: string) => (holds(query) ? rules : ''),
    );
    const rules = [...applying.matchAll(/([^{}]+)\{([^{}]*)\}/g)].filter(([, selectors = '']) =>
      selectors.split(',').some((part) => part.trim() === selector),
    );
    const declarations = rules.flatMap(([, , text = '']) => text.split(';'));
    return Object.fromEntries(
      declarations
        .map((text) => text.split(':').map((part) => part.trim()))
        .filter(([name, value]) => name && value),
    );
  }

  const holds = (query: string) => {
    const [, rem] = /max-width: (\d+)rem/.exec(query) ?? [];
    return rem !== undefined && Number(rem) * 16 >= width;
  };

  it('declares its viewport', () => {
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
  });

  it('scrolls code alone, and breaks long words', () => {
    expect(ruleOf('pre')).toMatchObject({ 'overflow-x': 'auto' });
    expect(ruleOf('body')).toMatchObject({ 'overflow-wrap': 'anywhere', display: 'block' });
    expect(style).not.toMatch(/white-space:|overflow-wrap: normal|word-break: keep-all/);
  });

  it('shows tables as lists, one cell below the other', () => {
    for (const part of ['table', 'tbody', 'tr', 'td']) {
      expect([part, ruleOf(part).display]).toEqual([part, 'block']);
    }
    expect(ruleOf('thead').display).toBe('none');
  });

  it('folds the navigation until it is opened', () => {
    expect(ruleOf('nav')).toMatchObject({ position: 'static', height: 'auto' });
    expect(ruleOf('#menu').display).toBe('inline');
    expect(ruleOf('#menu:not(:checked) ~ div').display).toBe('none');
    const [, folded = ''] =
      /<nav>.*?<input type="checkbox" id="menu">.*?<div>(.*?)<\/div><\/nav>/s.exec(page) ?? [];
    expect(folded.match(/<a /g)?.length).toBeGreaterThan(document.tags.length);
  });

  it('has no rule or attribute wider than the window', () => {
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
    expect(allPages).not.toMatch(/<[^>]+ (?:style|width)=/);
  });
});
