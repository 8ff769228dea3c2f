// The import rules of ARCHITECTURE.md, held by `npm run check`: the direction between faces and
// service, the order of the rooms, one doorway per library, no cycles.

/**
 * The rooms of src/, lowest first: each imports only rooms before it. Names without a folder are reserved for
 * later. A wing without rooms is a room itself.
 */
const rooms = Object.entries(require('./wings.json')).flatMap(([wing, own]) =>
  own.length === 0 ? [wing] : own.map((room) => `${wing}/${room}`),
);

/** Library (as in node_modules) to the files that may import it. */
const doorways = {
  '@css-inline/css-inline': '^src/content/rendering/',
  'acme-client': '^src/outbound/tracking/custom/certificates/acme\\.ts$',
  '@oclif/core': '^(commands|bin)/',
  '@inquirer/prompts': '^commands/base/input/ask',
  ajv: '^src/content/rendering/',
  ansis: '^commands/base/output/format',
  'better-sqlite3': '^src/platform/(store|upkeep)/',
  'cli-progress': '^commands/base/output/progress',
  'cli-table3': '^commands/base/output/format',
  croner: '^daemon/scheduler/',
  'csv-parse': '^src/platform/csv/read-csv',
  diff: '^src/content/git/',
  'dns-packet': '^src/platform/net/dns',
  'email-reply-parser': '^src/mail/parse/',
  fastify: '^daemon/(http|console)/',
  htm: '^daemon/console/html\\.ts$',
  'html-to-text': '^src/mail/parse/|^src/content/rendering/',
  htmlparser2: '^src/mail/mime/html/',
  isbot: '^src/outbound/tracking/automated\\.ts$',
  kysely: '^src/platform/(store|full-text|upkeep)/|^src/.*queries\\.ts$',
  libmime: '^src/mail/mime/(headers/header-values|charset/charset)\\.ts$',
  liquidjs: '^src/content/rendering/',
  '@modelcontextprotocol/server': '^daemon/mcp/',
  mailauth: '^src/inbox/receiving/|^src/mail/smtp/mta-sts[^/]*\\.ts$',
  mailparser: '^src/mail/parse/',
  mrml: '^src/content/rendering/',
  nodemailer: '^src/mail/mime/',
  'openid-client': '^src/access/single-sign-on/provider\\.ts$',
  parse5: '^src/content/rendering/',
  'parse5-html-rewriting-stream': '^src/outbound/tracking/links\\.ts$|^src/content/rendering/',
  pg: '^src/platform/(store|upkeep)/',
  pino: '^src/platform/runtime/log\\.ts$',
  'pino-pretty': '^src/platform/runtime/log\\.ts$',
  preact: '^daemon/console/html\\.ts$',
  'preact-render-to-string': '^daemon/console/html\\.ts$',
  'prom-client': '^src/platform/runtime/(on-demand|metrics)\\.ts$|^daemon/http/',
  re2js: '^src/platform/runtime/workers/linear-pattern\\.ts$',
  semver: '^src/extensions/versions\\.ts$',
  '@simplewebauthn/server': '^src/access/passkeys/ceremony\\.ts$',
  'smtp-server': '^daemon/smtp/',
  tldts: '^src/identity/domains/',
  undici: '^src/platform/net/http/client\\.ts$',
  yaml: '^src/core/config/|^src/content/rendering/|^src/platform/runtime/on-demand\\.ts$',
  zod:
    '(schema|schema-words|field-table|idempotency|routes|kinds|pagination|cursor|validate|route|area)\\.ts$|' +
    '^src/core/config/|^src/access/members/address\\.ts$|^daemon/http/(openapi/(openapi[^/]*|link-forms)|dispatch)\\.ts$|^commands/base/(input/schema-flags|verbs)\\.ts$',
};

/** As a path below src/: a folder, or a file that lies loose. */
const pathOf = (room) => (room.endsWith('.ts') ? `${room.replace('.', '\\.')}$` : `${room}/`);

const roomOrder = rooms.slice(0, -1).map((room, index) => ({
  name: `order-${room}`,
  comment: `${room} stands before what it imports here: turn the dependency around`,
  severity: 'error',
  from: { path: `^src/${pathOf(room)}` },
  to: {
    path: `^src/(${rooms
      .slice(index + 1)
      .map(pathOf)
      .join('|')})`,
  },
}));

const libraryDoorways = Object.entries(doorways).map(([library, files]) => ({
  name: `doorway-${library.replace(/^@|\//g, '-').replace(/^-/, '')}`,
  comment: `${library} is imported in one place only: ${files}`,
  severity: 'error',
  from: { path: '^(bin|commands|daemon|src)/', pathNot: files },
  to: { path: `^node_modules/(@types/)?${library}/` },
}));

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Types count too',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'service-knows-no-face',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(bin|commands|daemon|test)/' },
    },
    {
      name: 'daemon-knows-no-command',
      severity: 'error',
      from: { path: '^daemon/' },
      to: { path: '^(bin|commands|test)/' },
    },
    {
      name: 'commands-know-no-daemon',
      comment:
        'Commands work whether or not one runs. openapi, kinds of events and audited changes come from its lists',
      severity: 'error',
      from: {
        path: '^commands/',
        pathNot:
          '^commands/(audit|base/nouns/extension|daemon|mcp|openapi|rehearse|webhooks/events)\\.ts$',
      },
      to: { path: '^daemon/' },
    },
    {
      name: 'commands-know-no-test',
      severity: 'error',
      from: { path: '^commands/' },
      to: { path: '^(bin|test)/' },
    },
    {
      name: 'bin-only-starts',
      severity: 'error',
      from: { path: '^bin/' },
      to: { path: '^(src|daemon|test)/' },
    },
    {
      name: 'room-is-in-the-order',
      comment: 'Give a new room its place in wings.json',
      severity: 'error',
      from: { path: `^src/(?!(${rooms.map(pathOf).join('|')}))` },
      to: {},
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    ...roomOrder,
    ...libraryDoorways,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
