// The mounted paths that are not routes of the API, as the OpenAPI document describes them:
// streams, probes, documents, and links in mail. Each is mounted in a separate file.
import { z } from 'zod';
import { type GitService, gitServices } from '../../../src/content/git/smart-http.ts';
import { templateNoun } from '../../../src/content/templates/schema.ts';
import type { Permission } from '../../../src/core/api/permission.ts';
import { idPath } from '../../../src/core/api/resource-schema.ts';
import {
  mailboxStreamQuery,
  streamHeaders,
  streamQuery,
} from '../../../src/history/events/schema.ts';
import { mailboxPath } from '../../../src/identity/mailboxes/schema.ts';
import { confirmForm, leaveForm, proofForm } from './link-forms.ts';

/** A success, a redirect, or an error that is not an error object of the API. */
interface PlainAnswer {
  description: string;
  /** Media types of the body; an empty list for an empty body. */
  types: readonly string[];
}

export interface PlainPath {
  method: 'GET' | 'POST';
  path: string;
  name: string;
  summary: string;
  description: string;
  area: string;
  /** Permission that the key needs; a path without it needs no key. */
  permission?: Permission;
  params?: z.ZodType;
  query?: z.ZodType;
  headers?: z.ZodType;
  /** Media types of the body of the request. */
  takes?: readonly string[];
  /** Fields of a body that is posted as a form. */
  form?: z.ZodType;
  answers: Readonly<Record<number, PlainAnswer>>;
  /** Statuses answered with error objects of the API. */
  errors: readonly number[];
}

const token = z.strictObject({ token: z.string().meta({ description: 'Token of the link' }) });
const page = ['text/html'];
const json = ['application/json'];
/** A path of the service that needs no key. */
const open = { method: 'GET', area: 'service', errors: [400] } as const;
const brokenLink = { 404: { description: 'A page: the link is broken', types: page } };
/** A page behind a link in mail, and the form on it. */
const pageOfLink = {
  method: 'GET',
  area: 'links',
  params: token,
  errors: [500, 503, 504],
} as const;
const formOfLink = {
  ...pageOfLink,
  method: 'POST',
  takes: ['application/x-www-form-urlencoded', 'multipart/form-data'],
} as const;
const leaveNote =
  'A mail program posts `List-Unsubscribe=One-Click` (RFC 8058), the page an `action`: `leave`, ' +
  '`leave-all`, `return` or `return-all`.';

export const gitPath = '/v1/templates/{id}/git';
export const templatePath = idPath(templateNoun, 'a template');
export const gitQuery = z.strictObject({
  service: z.enum(gitServices).meta({ description: 'What git will ask for: a fetch or a push' }),
});
const gitNote =
  'For `git clone https://any:KEY@HOST/v1/templates/ID/git`: the key is the password of Basic ' +
  'authentication.';
const gitErrors = [400, 401, 403, 404, 422, 500, 503, 504];
const gitBodyErrors = [...gitErrors, 413, 415];

/** Returns the media type of a message of a service of git. */
export function gitType(service: GitService, message: 'refs' | 'request' | 'result'): string {
  return `application/x-${service}-${message === 'refs' ? 'advertisement' : message}`;
}

/** The mounted paths. A test compares the document with the paths of the server. */
export const plainPaths: readonly PlainPath[] = [
  {
    method: 'GET',
    path: '/v1/events/stream',
    name: 'streamEvents',
    summary: 'Follow events as they happen',
    description:
      'Server-sent events without an end: `id` is that of the event, `event` its kind, `data` the ' +
      'event as JSON. A comment every 15 seconds keeps the connection open. Reconnect with ' +
      '`Last-Event-ID` to get the events since then. A key bound to mailboxes needs `mailboxes:read`, ' +
      'and gets the events of its mailboxes.',
    area: 'events',
    permission: 'webhooks:read',
    query: streamQuery,
    headers: streamHeaders,
    answers: { 200: { description: 'The events', types: ['text/event-stream'] } },
    errors: [400, 401, 403, 404, 422, 500, 503, 504],
  },
  {
    method: 'GET',
    path: '/v1/mailboxes/{id}/events/stream',
    name: 'streamMailboxEvents',
    summary: 'Follow the events of a mailbox as they happen',
    description: 'Like `GET /v1/events/stream`, with the events of this mailbox only.',
    area: 'mailboxes',
    permission: 'mailboxes:read',
    params: mailboxPath,
    query: mailboxStreamQuery,
    headers: streamHeaders,
    answers: { 200: { description: 'The events', types: ['text/event-stream'] } },
    errors: [400, 401, 403, 404, 422, 500, 503, 504],
  },
  {
    method: 'GET',
    path: `${gitPath}/info/refs`,
    name: 'listTemplateRefs',
    summary: 'List the branches of a template for git',
    description: `${gitNote} A push needs \`templates:write\`.`,
    area: 'templates',
    permission: 'templates:read',
    params: templatePath,
    query: gitQuery,
    answers: {
      200: { description: 'The branches', types: gitServices.map((name) => gitType(name, 'refs')) },
    },
    errors: gitErrors,
  },
  {
    method: 'POST',
    path: `${gitPath}/git-upload-pack`,
    name: 'fetchTemplateCommits',
    summary: 'Fetch commits of a template by git',
    description: gitNote,
    area: 'templates',
    permission: 'templates:read',
    params: templatePath,
    takes: [gitType('git-upload-pack', 'request')],
    answers: {
      200: { description: 'A pack of objects', types: [gitType('git-upload-pack', 'result')] },
    },
    errors: gitBodyErrors,
  },
  {
    method: 'POST',
    path: `${gitPath}/git-receive-pack`,
    name: 'pushTemplateCommits',
    summary: 'Push commits of a template by git',
    description:
      'Moves main forward, or refuses with the reason. Each commit is checked as a save is.',
    area: 'templates',
    permission: 'templates:write',
    params: templatePath,
    takes: [gitType('git-receive-pack', 'request')],
    answers: {
      200: { description: 'The report', types: [gitType('git-receive-pack', 'result')] },
    },
    errors: gitBodyErrors,
  },
  {
    method: 'POST',
    path: '/mcp',
    name: 'askMcp',
    summary: 'Serve an agent over MCP (streamable HTTP)',
    description:
      'Tools are the operations that the key may use; each call has its permissions and limits. ' +
      '`?readOnly=true` leaves out all that change something.',
    area: 'service',
    takes: json,
    answers: {
      200: { description: 'The answer of JSON-RPC', types: [...json, 'text/event-stream'] },
      202: { description: 'A notification was taken', types: [] },
      405: { description: 'Another method than POST', types: json },
    },
    errors: [400, 401, 403, 413, 415, 500, 503],
  },
  {
    ...open,
    path: '/v1/openapi.json',
    name: 'getOpenApiDocument',
    summary: 'Get this document',
    description: 'The description of the API for programs.',
    answers: { 200: { description: 'The OpenAPI document', types: json } },
  },
  {
    ...open,
    path: '/docs',
    name: 'getReference',
    summary: 'Read this document as pages',
    description:
      'The description of the API for people: guides in short, and a page for each area.',
    query: z.strictObject({
      q: z.string().max(100).optional().meta({
        description: 'Show only operations and schemas with all of these words',
      }),
    }),
    answers: { 200: { description: 'The page', types: page } },
  },
  {
    method: 'GET',
    path: '/docs/{area}',
    name: 'getReferenceOfArea',
    summary: 'Read an area of this document as a page',
    description: 'Operations, events and schemas of the area. `errors` has the error objects.',
    area: 'service',
    params: z.strictObject({
      area: z.string().meta({ description: 'Name of the area, such as `messages`' }),
    }),
    answers: { 200: { description: 'The page', types: page } },
    errors: [400, 404],
  },
  {
    ...open,
    path: '/llms.txt',
    name: 'getLlmsText',
    summary: 'Get an overview for language models',
    description: 'Markdown with a link for each operation (llmstxt.org).',
    answers: { 200: { description: 'The text', types: ['text/plain'] } },
  },
  {
    ...open,
    path: '/client.js',
    name: 'getClient',
    summary: 'Get the client for JavaScript',
    description: 'An ES module without imports. Its types are at `/client.d.ts`.',
    answers: { 200: { description: 'The module', types: ['text/javascript'] } },
  },
  {
    ...open,
    path: '/client.d.ts',
    name: 'getClientTypes',
    summary: 'Get the types of the client',
    description: 'For TypeScript, beside `/client.js`.',
    answers: { 200: { description: 'The types', types: ['application/typescript'] } },
  },
  {
    ...open,
    path: '/',
    name: 'openService',
    summary: 'Open the service in a browser',
    description: 'Leads to `/docs`.',
    answers: { 302: { description: 'A redirect to `/docs`', types: [] } },
  },
  {
    ...open,
    path: '/healthz',
    name: 'checkHealth',
    summary: 'Check that the process runs',
    description: 'Answers even while other requests are refused.',
    answers: { 200: { description: 'The process runs', types: json } },
  },
  {
    ...open,
    path: '/readyz',
    name: 'checkReadiness',
    summary: 'Check that the service can work',
    description:
      'Checks that the store accepts writes and that the queue runs. `?verbose` adds `storeId`, the version, ' +
      'the commit (null without a clone of git) and the scheduled jobs; `draining` is true after `svc daemon drain`.',
    answers: {
      200: { description: 'The service can work', types: json },
      503: { description: 'The store or the queue is in trouble', types: json },
    },
  },
  {
    ...open,
    path: '/metrics',
    name: 'getMetrics',
    summary: 'Get the metrics of the process',
    description: 'In the text format of Prometheus. Do not expose this path to the internet.',
    answers: { 200: { description: 'The metrics', types: ['text/plain'] } },
  },
  {
    method: 'GET',
    path: '/.well-known/svc-receipts.json',
    name: 'listReceiptKeys',
    summary: 'List the public keys that sign receipts',
    description: 'Ed25519 keys, the newest last. Earlier ones stay: they signed earlier receipts.',
    area: 'service',
    answers: { 200: { description: 'The keys', types: json } },
    errors: [400, 500, 503],
  },
  {
    method: 'GET',
    path: '/storage/{token}',
    name: 'downloadStoredFile',
    summary: 'Download a file by its signed URL',
    description: 'A URL from `includeStorageUrls`. Its token is the permission, and expires.',
    area: 'links',
    params: token,
    answers: {
      200: { description: 'The file', types: ['message/rfc822', 'text/html', 'text/plain'] },
    },
    errors: [400, 404, 500, 503, 504],
  },
  {
    method: 'GET',
    path: '/t/o/{token}',
    name: 'openPixel',
    summary: 'Record an open',
    description: 'The pixel of a tracked mail.',
    area: 'links',
    params: token,
    answers: { 200: { description: 'A transparent image', types: ['image/gif'] }, ...brokenLink },
    errors: [400, 503, 504],
  },
  {
    method: 'GET',
    path: '/t/c/{token}',
    name: 'followLink',
    summary: 'Record a click and follow the link',
    description: 'A link of a tracked mail.',
    area: 'links',
    params: token,
    answers: { 302: { description: 'A redirect to the target', types: [] }, ...brokenLink },
    errors: [400, 503, 504],
  },
  {
    ...pageOfLink,
    path: '/u/{token}',
    name: 'showUnsubscribePage',
    summary: 'Show the unsubscribe page',
    description: 'Shows the state of the recipient, and changes nothing.',
    answers: { 200: { description: 'The page', types: page }, ...brokenLink },
  },
  {
    ...formOfLink,
    path: '/u/{token}',
    form: leaveForm,
    name: 'unsubscribe',
    summary: 'Unsubscribe, or subscribe again',
    description: leaveNote,
    answers: {
      200: { description: 'The page with the new state', types: page },
      400: { description: 'The page, unchanged: the form asks for nothing', types: page },
      ...brokenLink,
    },
  },
  {
    ...pageOfLink,
    path: '/c/{token}',
    name: 'showConfirmPage',
    summary: 'Show the page to confirm a double opt-in group',
    description: 'Shows a button, and changes nothing.',
    answers: {
      200: { description: 'The page, with a button unless the link was used', types: page },
      410: { description: 'The link is older than 7 days, or no longer valid', types: page },
      ...brokenLink,
    },
  },
  {
    ...formOfLink,
    path: '/c/{token}',
    form: confirmForm,
    name: 'confirmGroup',
    summary: 'Confirm a double opt-in group',
    description:
      'The form has `action=confirm`. The contact is confirmed, and an unsubscribe of its address ' +
      'from this group is lifted.',
    answers: {
      200: { description: 'The page with the new state', types: page },
      400: { description: 'The page, unchanged: the form asks for nothing', types: page },
      410: { description: 'The link is older than 7 days, or no longer valid', types: page },
      ...brokenLink,
    },
  },
  {
    ...pageOfLink,
    path: '/verify/{token}',
    name: 'showProofPage',
    summary: 'Show the page to prove a sender address',
    description: 'Shows a button, and changes nothing.',
    answers: {
      200: { description: 'The page, with a button', types: page },
      410: { description: 'The link is older than 7 days, was used, or was replaced', types: page },
      ...brokenLink,
    },
  },
  {
    ...formOfLink,
    path: '/verify/{token}',
    form: proofForm,
    name: 'proveSender',
    summary: 'Prove a sender address',
    description: 'The form has `action=verify`. The sender is verified.',
    answers: {
      200: { description: 'The page with the new state', types: page },
      400: { description: 'The page, unchanged: the form asks for nothing', types: page },
      410: { description: 'The link is older than 7 days, was used, or was replaced', types: page },
      ...brokenLink,
    },
  },
];

/** Descriptions of areas that have such paths but no route. */
export const plainAreas: ReadonlyMap<string, string> = new Map([
  ['service', 'Probes, metrics and the description of the API. These paths need no key.'],
  ['links', 'Links that the service writes into mail and answers. Their token is the permission.'],
]);
