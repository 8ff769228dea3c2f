// The OpenAPI document and the reference page: complete, valid, served without a key, and
// self-contained. openapi-check.ts checks the responses of all HTTP tests against the document.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import diagnostics from 'node:diagnostics_channel';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventKinds } from '../../daemon/http/event-kinds.ts';
import { drawReference } from '../../daemon/http/openapi/docs.ts';
import { guides } from '../../daemon/http/openapi/guides.ts';
import {
  type OpenApiDocument,
  type Operation,
  openApiDocument,
} from '../../daemon/http/openapi/openapi.ts';
import { errorSchemas } from '../../daemon/http/openapi/openapi-errors.ts';
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer } from '../../daemon/http/server.ts';
import { type Route, route } from '../../src/core/api/route.ts';
import { atOnce } from '../../src/platform/runtime/fairness/loop-turns.ts';
import { testApp } from '../support/test-app.ts';
import { echo, type HttpService, httpService } from './http-service.ts';

const run = promisify(execFile);
const document = openApiDocument(routes, 'https://mail.acme.test', eventKinds);

/** Returns the operation of a document. @throws Error without it. */
function operationOf({ paths }: OpenApiDocument, method: string, path: string): Operation {
  const methods = new Map(Object.entries(paths)).get(path) ?? {};
  const operation = new Map(Object.entries(methods)).get(method.toLowerCase());
  if (!operation) throw new Error(`the document lacks ${method} ${path}`);
  return operation;
}

const referenceOf = (shown: OpenApiDocument) =>
  atOnce(drawReference(shown, { now: 0, productVersion: '1.2.3' }));
const reference = referenceOf(document);
const allPages = [...reference.pages.values()].join('');

/** Returns the page of an area. */
const pageOf = (area: string) => reference.pages.get(`/docs/${area}`) ?? '';

let service: HttpService | undefined;

afterEach(async () => {
  await service?.close();
  service = undefined;
});

describe('the document of all routes', () => {
  it('passes redocly without error or warning', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-openapi-'));
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    const cli = createRequire(import.meta.url).resolve('@redocly/cli/bin/cli.js');
    // A redirect is the success of two paths.
    // The specification has the families of templates at `/v1/templates/families`.
    const skipped = ['operation-2xx-response', 'no-ambiguous-paths'];
    const flags = ['--extends=recommended', '--format=json'];
    flags.push(...skipped.map((rule) => `--skip-rule=${rule}`));
    const { stdout } = await run(process.execPath, [cli, 'lint', 'openapi.json', ...flags], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
        HTTPS_PROXY: 'http://127.0.0.1:1',
      },
    });
    rmSync(folder, { recursive: true });
    const report = JSON.parse(stdout) as { problems: unknown[] };
    expect(report.problems).toEqual([]);
  });

  it('has the version, security and schemas of the specification', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.0');
    expect(document.security).toEqual([{ ApiKeyAuth: [] }]);
    expect(document.components.securitySchemes).toMatchObject({
      ApiKeyAuth: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    });
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([...Object.keys(errorSchemas), 'Message', 'Delivery', 'SendPayload']),
    );
  });

  it.each(routes.map((entry) => [`${entry.method} ${entry.path}`, entry] as const))(
    'describes %s',
    (_name, { method, path, name, permission, status, errors = [] }) => {
      const { operationId, description, responses } = operationOf(document, method, path);
      expect(operationId).toBe(name);
      expect(description).toContain(permission);
      const statuses = [status, 400, 401, 403, 404, 422, 429, 500, 503, 504, ...errors];
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(statuses.map(String)));
    },
  );

  it('has every mounted path', async () => {
    const mounted: string[] = [];
    const onStart = (message: unknown) => {
      const { fastify } = message as { fastify: FastifyInstance };
      fastify.addHook('onRoute', ({ method, url }) => {
        for (const one of [method].flat()) if (one !== 'HEAD') mounted.push(`${one} ${url}`);
      });
    };
    const app = await testApp();
    diagnostics.subscribe('fastify.initialization', onStart);
    const options = { routes, authenticate: async () => null, isQueueRunning: () => true };
    await createHttpServer(app.app, options).close();
    diagnostics.unsubscribe('fastify.initialization', onStart);
    await app.close();
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const inRouterForm = described.map((one) => one.replace(/\{(\w+)\}/g, ':$1'));
    const isDescribed = (one: string) =>
      one.endsWith('*')
        ? inRouterForm.some((other) => other.startsWith(one.slice(0, -1)))
        : inRouterForm.includes(one);
    expect(mounted.length).toBeGreaterThan(routes.length);
    expect(mounted.filter((one) => !isDescribed(one))).toEqual([]);
    const isMounted = (one: string) =>
      mounted.some((other) =>
        other.endsWith('*') ? one.startsWith(other.slice(0, -1)) : one === other,
      );
    expect(inRouterForm.filter((one) => !isMounted(one))).toEqual([]);
  });

  it('describes the stream of events with its media type and Last-Event-ID', () => {
    const { parameters = [], responses } = operationOf(document, 'GET', '/v1/events/stream');
    expect(parameters.map(({ in: place, name }) => `${place} ${name}`)).toContain(
      'header Last-Event-ID',
    );
    expect(Object.keys(responses[200]?.content ?? {})).toEqual(['text/event-stream']);
  });

  it('declares for a send the errors of the specification (4.1)', () => {
    const { responses } = operationOf(document, 'POST', '/v1/messages');
    const statuses = [201, 401, 402, 403, 404, 409, 422, 429, 500, 502];
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(statuses.map(String)));
    expect(responses['403']).toEqual({ $ref: '#/components/responses/SendForbidden' });
    expect(responses['500']).toEqual({ $ref: '#/components/responses/SendFailed' });
    expect(JSON.stringify(document.components.responses.SendForbidden)).toContain('FlagDisabled');
    expect(JSON.stringify(document.components.responses.SendFailed)).toContain('WebhookEnqueue');
  });
});

describe('a schema', () => {
  const withBody = (body: z.ZodType): Route => ({ ...echo, body });

  it('describes a query parameter by its meaning instead of its text form', () => {
    const { parameters = [] } = operationOf(document, 'GET', '/v1/messages');
    expect(parameters.find(({ name }) => name === 'limit')?.schema).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 20,
    });
  });

  it('describes a path parameter with its pattern, and a header by its usual name', () => {
    const { parameters } = operationOf(openApiDocument([echo], '/'), 'POST', echo.path);
    expect(parameters).toMatchObject([
      { name: 'id', in: 'path', required: true, schema: { pattern: '^thing_[0-9]{4}$' } },
      { name: 'loud', in: 'query', required: false, schema: { type: 'boolean' } },
      { name: 'Idempotency-Key', in: 'header', required: false },
    ]);
  });

  it('is one component in any number of places', () => {
    const party = z.object({ name: z.string() }).meta({ id: 'TestParty' });
    const made = openApiDocument(
      [withBody(z.array(party)), { ...echo, path: '/v1/b', output: party }],
      '/',
    );
    expect(made.components.schemas.TestParty).toMatchObject({ type: 'object' });
    expect(operationOf(made, 'POST', '/v1/b').responses['201']).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/TestParty' } } },
    });
  });

  it('that cannot be expressed stops the document', () => {
    expect(() => openApiDocument([withBody(z.date())], '/')).toThrow(/cannot be represented/);
  });

  it('cannot declare an error outside the specification', () => {
    expect(() => openApiDocument([{ ...echo, errors: [418] }], '/')).toThrow(/418/);
  });
});

describe('/v1/openapi.json', () => {
  it('is served without a key, with the address that the service listens on', async () => {
    service = await httpService();
    const { url } = await service.http.listen();
    const response = await fetch(`${url}/v1/openapi.json`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument([echo], url))));
  });

  it('names the configured public address', async () => {
    service = await httpService({ config: { publicUrl: 'https://mail.acme.test' } });
    const response = await service.http.inject({ url: '/v1/openapi.json' });
    expect(response.json().servers[0].url).toBe('https://mail.acme.test');
  });
});

describe('/docs', () => {
  it('is where the root leads', async () => {
    service = await httpService();
    const { statusCode, headers } = await service.http.inject({ url: '/' });
    expect([statusCode, headers.location]).toEqual([302, '/docs']);
  });

  it('loads nothing from elsewhere, and forbids it', async () => {
    service = await httpService();
    const response = await service.http.inject({ url: '/docs' });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.body).not.toMatch(/<script|<link[^>]+href="http|src=|@import|url\(/i);
    const style = /<style>([\s\S]*?)<\/style>/.exec(response.body)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(response.headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    );
  });

  it('shows every operation and every schema, with working links', () => {
    for (const { name, summary, path } of routes) {
      expect(allPages).toContain(`<section id="${name}">`);
      expect(allPages).toContain(path);
      expect(allPages).toContain(summary);
    }
    for (const name of Object.keys(document.components.schemas)) {
      expect(allPages.split(`<section id="schema-${name}">`)).toHaveLength(2);
    }
    const links = [...allPages.matchAll(/href="(\/docs[^"#]*)(?:#([^"]+))?"/g)];
    expect(links.length).toBeGreaterThan(routes.length);
    const isBroken = ([, path = '', id]: RegExpMatchArray) => {
      const page = reference.pages.get(path);
      return page === undefined || (id !== undefined && !page.includes(` id="${id}"`));
    };
    expect(links.filter(isBroken).map(([link]) => link)).toEqual([]);
  });

  it('has a page for each area, none with more than a fifth of the reference', () => {
    const sizes = [...reference.pages.values()].map((page) => page.length);
    expect(reference.pages.size).toBe(document.tags.length + 2);
    expect(Math.max(...sizes)).toBeLessThan(allPages.length / 5);
    for (const { name, area } of routes) {
      const slug = area.toLowerCase().replaceAll(' ', '-');
      expect(pageOf(slug)).toContain(`<section id="${name}">`);
    }
  });

  it('shows the command beside the heading', () => {
    const [, section = ''] = pageOf('messages').split('<section id="sendMessage">');
    expect(section).toMatch(
      /^\s*<div><h3>[^<]+<\/h3><p><code>[^<]+<\/code><\/p>\s*<\/div><pre>curl /,
    );
  });

  it('shows the payload of each event with an example', () => {
    for (const { type } of eventKinds) {
      const [, rest = ''] = pageOf('events').split(`<section id="event-${type}">`);
      const [section = ''] = rest.split('</section>');
      expect(section).toContain('<code>data</code>');
      expect(section).toContain(`<pre>{\n  &#34;type&#34;: &#34;${type}&#34;`);
    }
  });

  it('begins with guides whose operations exist', () => {
    const names = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId }) => operationId);
    for (const { title, operations } of guides) {
      expect(reference.pages.get('/docs')).toContain(`<h3>${title}</h3>`);
      expect(names).toEqual(expect.arrayContaining([...operations]));
    }
  });

  it('answers an unknown area with 404', async () => {
    service = await httpService();
    const response = await service.http.inject({ url: '/docs/nothing' });
    expect([response.statusCode, response.json()]).toEqual([
      404,
      { _tag: 'ResourceNotFoundError', resource: 'page', id: '/docs/nothing' },
    ]);
  });

  it('has an overview for language models, with a link for each operation', async () => {
    service = await httpService({ routes });
    const { body, headers } = await service.http.inject({ url: '/llms.txt' });
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    const links = [...body.matchAll(/^- \[[A-Z]+ [^\]]+\]\((\/docs\/[a-z-]+)#(\w+)\): .+$/gm)];
    const names = new Set(links.map(([, , name]) => name));
    expect(routes.filter(({ name }) => !names.has(name)).map(({ name }) => name)).toEqual([]);
    for (const [, path = '', name] of links) {
      expect(reference.pages.get(path)).toContain(`<section id="${name}">`);
    }
  });

  it.each(routes.filter(({ body }) => body).map(({ name, body }) => [name, body] as const))(
    'shows the fields of the body at %s',
    (name, body) => {
      const [section = ''] = allPages.split(`<section id="${name}">`)[1]?.split('</section>') ?? [];
      const json = z.toJSONSchema(body ?? z.never(), { io: 'input', unrepresentable: 'any' });
      const fields = Object.keys(json.properties ?? {});
      for (const field of fields) expect(section).toContain(`<code>${field}</code>`);
    },
  );

  it('shows the fields of a batch by their index', () => {
    const [section] =
      allPages.split('<section id="sendMessageBatch">')[1]?.split('</section>') ?? [];
    expect(section).toContain('<code>0.email.subject</code>');
  });

  it('folds the errors of each operation', () => {
    const [, section = ''] = allPages.split('<section id="sendMessage">');
    expect(section).toMatch(/<td>201<\/td>[\s\S]*?<details><summary>Errors: 400, 401, 402/);
  });

  it('shows the version of the program beside that of the API', () => {
    const page = reference.pages.get('/docs');
    expect(page).toContain('<h1>svc API 1.0.0</h1>');
    expect(page).toContain('Program: <code>svc 1.2.3</code>');
  });

  describe('search', () => {
    const { search } = reference;
    const sections = (page: string) =>
      [...page.matchAll(/<section id="([^"]+)">/g)].map(([, id]) => id);

    it('shows the operations and schemas with all words, in any letter case', () => {
      const found = sections(search('Mailboxes CATCH-ALL'));
      expect(found).toEqual(expect.arrayContaining(['enableCatchAll', 'disableCatchAll']));
      expect(found.length).toBeLessThan(20);
    });

    it('finds the field of a body', () => {
      expect(sections(search('email.replyTo'))).toContain('sendMessage');
    });

    it('links sections that it leaves out to their pages', () => {
      const links = [...search('/v1/messages/{id}/cancel').matchAll(/href="([^"]+)"/g)];
      expect(links.map(([, to = '']) => to)).toContain('/docs/messages#schema-Message');
    });

    it('without a result says so', () => {
      const page = search('<b>nothing</b>');
      expect(sections(page)).toEqual([]);
      expect(page).toContain('0 places have the words “&#60;b&#62;nothing&#60;/b&#62;”.');
      expect(page).toContain('value="&#60;b&#62;nothing&#60;/b&#62;"');
    });

    it('is a form that needs no script', async () => {
      service = await httpService({ routes });
      const { body } = await service.http.inject({ url: '/docs?q=catch-all' });
      expect(body).toContain('<form action="/docs" role="search">');
      expect(sections(body)).toContain('enableCatchAll');
      expect(sections(body)).not.toContain('sendMessage');
    });

    it.each(['/docs?q=', '/docs?q=a&q=b', `/docs?q=${'x'.repeat(5_000)}`])(
      'answers %s with 200',
      async (url) => {
        service = await httpService({ routes });
        expect((await service.http.inject({ url })).statusCode).toBe(200);
      },
    );
  });

  it('shows nested fields by their dotted paths', () => {
    for (const field of ['email.subject', 'email.attachments.0.filename', 'to.0.email']) {
      expect(allPages).toContain(`<code>${field}</code>`);
    }
  });

  it('escapes markup of the document', () => {
    const hostile = route({
      ...echo,
      summary: '<img src=x onerror=alert(1)>',
      description: '`</code><script>`',
      body: z.strictObject({ '<b>': z.enum(['"><i>']).meta({ description: '<u>' }) }),
      run: async () => ({ id: '', text: '', key: null }),
    });
    const { pages } = referenceOf(openApiDocument([hostile], 'http://x/"><s>'));
    expect([...pages.values()].join('')).not.toMatch(/<(img|script|b|i|u|s)[ >]/);
  });
});
