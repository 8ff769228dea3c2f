// The import rules of ARCHITECTURE.md, held by `npm run check`: the direction between faces and
// service, the order of the areas, one doorway per library, no cycles.

/** An area imports only areas before it. */
const areas = [
  'audit',
  'organizations',
  'keys',
  'admission',
  'events',
  'usage',
  'domains',
  'senders',
  'tracking',
  'blocks',
  'messages',
  'mailboxes',
  'outbound',
  'inbound',
];

/** Library (as in node_modules) to the files that may import it. */
const doorways = {
  '@oclif/core': '^(commands|bin)/',
  '@inquirer/prompts': '^commands/base/confirm',
  ansis: '^commands/base/format',
  'better-sqlite3': '^src/store/',
  'cli-progress': '^commands/base/progress',
  'cli-table3': '^commands/base/format',
  croner: '^daemon/scheduler/',
  'csv-parse': '^src/blocks/read-csv',
  'dns-packet': '^src/dns',
  'email-reply-parser': '^src/inbound/',
  fastify: '^daemon/http/',
  'html-to-text': '^src/inbound/',
  kysely: '^src/store/|^src/.*queries\\.ts$',
  libmime: '^src/inbound/',
  mailauth: '^src/inbound/|^src/outbound/route/mta-sts\\.ts$',
  mailparser: '^src/inbound/',
  nodemailer: '^src/outbound/',
  pg: '^src/store/',
  pino: '^src/log\\.ts$',
  'pino-pretty': '^src/log\\.ts$',
  'prom-client': '^src/metrics\\.ts$|^daemon/http/',
  'smtp-server': '^daemon/smtp/',
  tldts: '^src/domains/',
  yaml: '^src/config|^src/outbound/lanes/load-providers\\.ts$',
  zod:
    '(schema|routes|pagination|validate|route)\\.ts$|^src/config[^/]*\\.ts$|' +
    '^daemon/http/(openapi[^/]*|dispatch)\\.ts$',
};

const areaOrder = areas.slice(0, -1).map((area, index) => ({
  name: `area-order-${area}`,
  comment: `${area} stands before what it imports here: turn the dependency around`,
  severity: 'error',
  from: { path: `^src/${area}/` },
  to: { path: `^src/(${areas.slice(index + 1).join('|')})/` },
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
      comment: 'Types count too; but a migration is of the type that the list of migrations has',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { pathNot: '^src/store/migrations/' } },
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
        'Commands work whether or not one runs. openapi derives the document from its routes',
      severity: 'error',
      from: { path: '^commands/', pathNot: '^commands/(daemon|openapi)\\.ts$' },
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
      name: 'area-is-in-the-order',
      comment: 'A new folder of src/ has to find its place in the list of areas',
      severity: 'error',
      from: { path: `^src/(?!(store|${areas.join('|')})/)[^/]+/` },
      to: {},
    },
    {
      name: 'store-knows-no-area',
      severity: 'error',
      from: { path: '^src/store/' },
      to: { path: `^src/(${areas.join('|')})/` },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    ...areaOrder,
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
