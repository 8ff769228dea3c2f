// Commands run through the routes of their operations. The lists below name all that do not, with
// reasons; an outdated entry fails too.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsFolder, listCommandIds } from '../../commands/base/input/typed.ts';

/** Commands without a route. */
const withoutRoute: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['create', 'list', 'pause', 'resume', 'review', 'show', 'update'].map((verb) => [
      `orgs:${verb}`,
      'the operator alone creates, changes and sees all organizations',
    ]),
  ),
  ...Object.fromEntries(
    ['drop', 'flush', 'hold', 'holds', 'list', 'release', 'retry', 'show', 'top'].map((verb) => [
      `queue:${verb}`,
      'the operator alone works on the queue of all organizations',
    ]),
  ),
  'domains:resume': 'the operator alone resumes a held domain',
  'blocks:export': 'the API has no export of blocks',
  'blocks:import': 'the API has no import of blocks',
  'mailboxes:receive': 'takes a mail as SMTP does, from standard input',
  init: 'makes a store or installs a service, then adds the domain by its route',
  sendmail: 'takes MIME from standard input, as sendmail does',
  'contacts:export': 'writes a file, counts its rows and shows progress',
  'contacts:import': 'reads a file, shows progress and reports on Ctrl-C',
  'events:tail': 'follows the log until Ctrl-C',
  'extensions:publish': 'is for the operator alone',
  'events:verify': 'compares the log with the sealed one',
  'receipt:verify': 'needs no store: it checks a file',
  'messages:tail': 'follows the log until Ctrl-C',
  'webhooks:listen': 'follows the log until Ctrl-C, and posts to this machine',
  'webhooks:events': 'needs no store: the kinds are constants',
  'webhooks:verify': 'needs no store: it checks a signature',
  'members:erase': 'the operator alone erases who is not a member any more',
  'members:link': 'the operator alone makes a link that signs in as a person',
  'members:reset': 'the operator alone gives a person a new start',
  'secret:list': 'the operator alone sees the root keys',
  'secret:rotate': 'the operator alone replaces the root key',
  'members:unbind': 'the operator alone unbinds people, who belong to no organization',
  openapi: 'needs no store: it prints the routes themselves',
  'config:check': 'reads the configuration alone',
  'config:example': 'reads the configuration alone',
  'config:show': 'reads the configuration alone',
  backup: 'copies the store',
  'backup:verify': 'reads a backup',
  restore: 'replaces the store',
  'storage:compact': 'rewrites the store of all organizations',
  'storage:move': 'moves the files of all organizations',
  'storage:usage': 'measures the store for its operator',
  'migrate:copy': 'copies the whole store',
  'migrate:status': 'reads the schema of the store',
  daemon: 'starts the service',
  'dev:clock': 'moves the clock of the daemon, which has no route of the API',
  'dev:reset': 'empties the store',
  'import:templates': 'reads a file and translates it',
  mcp: 'serves an agent until it goes',
  rehearse: 'plays the days ahead on a copy of the store',
  'daemon:drain': 'reaches the daemon by a signal',
  'daemon:unit': 'prints a file for the system',
  doctor: 'looks at the machine',
  status: 'looks at the service from outside',
  open: 'makes a link for a browser',
};

/** Commands that call the service beside their route. */
const besideRoute: Readonly<Record<string, string>> = {
  'messages:expect': 'waits as long as --within says, and the route for 25 s at most',
  'messages:show': '--raw and --attachment write bytes that the API does not give',
  'blocks:delete': '--reason lifts many blocks, and the API one',
  'blocks:show': 'finds a block by its address',
  'templates:lint': 'compiles a folder that no template has yet',
  'domains:dns': 'writes the records in the forms of other programs',
  'domains:verify': '--force is for the operator alone',
  'mailboxes:activity': 'draws bars from the actions of each hour',
  'templates:pull': 'merges the files of a folder with those of main',
  'templates:push': 'saves the files of a folder in one step',
  'warming:start': '--simulate calculates a plan and stores nothing',
};

/** Modules that know no store: texts, shapes and pure functions. */
const isPure = (path: string) =>
  /(?:^|[/-])(?:routes|schema)\.ts$/.test(path) ||
  [
    'src/core/config/problems.ts',
    'src/outbound/explain/time-words.ts',
    'src/outbound/messages/captured.ts',
    'src/access/keys/roles.ts',
    'src/mail/parse/dmarc/dmarc-summary.ts',
    'src/platform/net/address.ts',
  ].includes(path);

interface Source {
  id: string;
  hasRoute: boolean;
  /** Modules of the service that it calls beside routes. */
  calls: string[];
}

function sourceOf(id: string): Source {
  const text = readFileSync(join(commandsFolder, `${id.replaceAll(':', '/')}.ts`), 'utf8');
  const imported = text.matchAll(
    /(?:import\(\s*|^import (?!type )[^;]*? from )'(?:\.\.\/)+((?:src|daemon)\/[^']+)'/gm,
  );
  const paths = [...imported].map(([, path = '']) => path);
  const runsRoutes =
    /base\/(?:action|nouns\/family|mail\/(?:mail-words|thread)|route|verbs)\.ts'/.test(text);
  const hasRoute = runsRoutes && paths.some((path) => path.endsWith('routes.ts'));
  const isWalk = text.includes("'../base/review/walk.ts'");
  return { id, hasRoute: hasRoute || isWalk, calls: paths.filter((path) => !isPure(path)) };
}

const sources = listCommandIds().map(sourceOf);
const idsOf = (found: readonly Source[]) => found.map(({ id }) => id);

describe('commands and operations', () => {
  it('a command runs through a route, or is listed with a reason', () => {
    const without = idsOf(sources.filter(({ hasRoute }) => !hasRoute));
    expect(new Set(without)).toEqual(new Set(Object.keys(withoutRoute)));
  });

  it('a command with a route calls nothing beside it, or is listed with a reason', () => {
    const beside = idsOf(sources.filter(({ hasRoute, calls }) => hasRoute && calls.length > 0));
    expect(new Set(beside)).toEqual(new Set(Object.keys(besideRoute)));
  });
});
