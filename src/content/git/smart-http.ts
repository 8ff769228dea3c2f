// Git's smart HTTP for clone, fetch and push (gitprotocol-http(5), gitprotocol-pack(5)): version 0,
// a single branch, no shallow clones. Reads the store, and has no further effects.
import { MalformedRequestError, ValidationError } from '../../platform/errors.ts';
import { sliceTurns } from '../../platform/runtime/fairness/loop-turns.ts';
import type { Db } from '../../platform/store/db.ts';
import { isOid, isRefName } from './incoming.ts';
import { packOf } from './pack-write.ts';
import { bandLines, flush, pktLine, readLines } from './pkt-line.ts';
import { findPlaces } from './queries.ts';
import { type Head, mainRef } from './repository.ts';

export const gitServices = ['git-upload-pack', 'git-receive-pack'] as const;
export type GitService = (typeof gitServices)[number];

const agent = 'agent=svc';
const capabilities: Readonly<Record<GitService, string>> = {
  'git-upload-pack': `side-band-64k ofs-delta no-progress symref=HEAD:${mainRef} ${agent}`,
  'git-receive-pack': `report-status side-band-64k ofs-delta quiet ${agent}`,
};

/** Most lines of a request to fetch: git sends commits in steps of some thousands at most. */
const mostLines = 20_000;
/** Most commits that a client may want: there is only a single branch. */
const mostWants = 1_000;
/** Most ids in a look-up: a look-up of 20,000 ids takes 100 ms. */
const idsAtOnce = 1_000;
const noOid = '0'.repeat(40);

/** Returns the list of refs: the answer to the first request of a client. */
export function advertise(service: GitService, { oid }: Head): Buffer {
  const names = service === 'git-upload-pack' ? ['HEAD', mainRef] : [mainRef];
  const lines = names.map((name, index) =>
    pktLine(`${oid} ${name}${index === 0 ? `\0${capabilities[service]}` : ''}\n`),
  );
  return Buffer.concat([pktLine(`# service=${service}\n`), flush, ...lines, flush]);
}

/** A request to fetch. `wants`: requested commits; `haves`: commits that the client has. */
export interface Fetch {
  wants: string[];
  haves: string[];
  /** Whether the client now waits for the pack. */
  isDone: boolean;
  isBanded: boolean;
}

/** Reads a request to fetch. @throws MalformedRequestError */
export function readFetch(body: Buffer): Fetch {
  const { lines, end } = readLines(body, 0, mostWants);
  const wants = lines.map((line) => {
    const oid = /^want ([a-f0-9]{40})(?: |$)/.exec(line)?.[1];
    if (oid === undefined) throw odd(line);
    return oid;
  });
  const isBanded = lines[0]?.includes(' side-band-64k') ?? false;
  return { wants, isBanded, ...readHaves(body, end) };
}

function odd(line: string): MalformedRequestError {
  return new MalformedRequestError(`The git request is not understood: ${line.slice(0, 80)}`);
}

/**
 * Yields the answer to a fetch: nothing without wants, an error for a want that main lacks, ACK
 * with a commit in common, or NAK. If the client is done, the pack with the commits that the client
 * lacks follows.
 */
export async function* answerFetch(
  db: Db,
  repositoryId: string,
  head: Head,
  { wants, haves, isDone, isBanded }: Fetch,
): AsyncGenerator<Buffer, void, undefined> {
  if (wants.length === 0) return;
  const places = await findPlaces(db, repositoryId, [...new Set(wants)]);
  const known = new Set(places.flatMap(({ oid, type }) => (type === 'commit' ? [oid] : [])));
  const unknown = wants.find((oid) => !known.has(oid));
  if (unknown !== undefined) {
    yield pktLine(`ERR upload-pack: not our ref ${unknown}\n`);
    return;
  }
  const common = await commonWith(db, repositoryId, haves);
  yield pktLine(common.oid === null ? 'NAK\n' : `ACK ${common.oid}\n`);
  if (!isDone) return;
  const range = { after: common.position, to: head.commits };
  for await (const part of packOf(db, repositoryId, range)) {
    yield isBanded ? bandLines(1, part) : part;
  }
  if (isBanded) yield flush;
}

function readHaves(body: Buffer, from: number): { haves: string[]; isDone: boolean } {
  const haves: string[] = [];
  for (let at = from; at < body.length; ) {
    const { lines, end } = readLines(body, at, mostLines);
    for (const line of lines) {
      if (line === 'done') return { haves, isDone: true };
      const oid = /^have ([a-f0-9]{40})$/.exec(line)?.[1];
      if (oid === undefined) throw odd(line);
      haves.push(oid);
    }
    if (haves.length > mostLines) throw new MalformedRequestError('The git request is too long');
    at = end;
  }
  return { haves, isDone: false };
}

/**
 * Returns the newest commit in common that has all earlier commits as ancestors. Without such a
 * commit, `oid` is null and `position` is 0.
 */
async function commonWith(
  db: Db,
  repositoryId: string,
  haves: readonly string[],
): Promise<{ oid: string | null; position: number }> {
  let newest: { oid: string | null; position: number } = { oid: null, position: 0 };
  for (let at = 0; at < haves.length; at += idsAtOnce) {
    const found = await findPlaces(db, repositoryId, haves.slice(at, at + idsAtOnce));
    for (const { oid, position, closes_history } of found) {
      if (closes_history === 1 && (position ?? 0) > newest.position) {
        newest = { oid, position: position ?? 0 };
      }
    }
    await sliceTurns();
  }
  return newest;
}

/** A request to push: moves main from the commit `from` to the commit `to`. */
export interface Push {
  from: string;
  to: string;
  pack: Buffer;
  /** Whether the client reads the report in bands. */
  isBanded: boolean;
}

const otherRef = `only ${mainRef} can be pushed`;

/**
 * Reads a request to push; null for an empty request, by which a client asks for permission.
 * @throws MalformedRequestError; ValidationError for anything but a single change of main
 */
export function readPush(body: Buffer): Push | null {
  const { lines, end, isFlushed } = readLines(body, 0, 100);
  if (lines.length === 0) return null;
  if (!isFlushed) throw new MalformedRequestError('The git request has no end of its commands');
  const [command = '', words = ''] = (lines[0] ?? '').split('\0');
  const [from = '', to = '', ...rest] = command.split(' ');
  const name = rest.join(' ');
  if (!(isOid(from) && isOid(to))) {
    throw new MalformedRequestError('The git request has a malformed command');
  }
  const refuse = (ref: string, problem: string) => new RefusedPush(ref, problem, words);
  if (!isRefName(name)) throw refuse(name, 'the name of the ref is malformed');
  if (lines.length > 1) throw refuse(name, `${otherRef}, alone`);
  if (name !== mainRef) throw refuse(name, otherRef);
  if (to === noOid) throw refuse(name, 'main cannot be deleted');
  return { from, to, pack: body.subarray(end), isBanded: isBandedIn(words) };
}

function isBandedIn(words: string): boolean {
  return words.split(' ').includes('side-band-64k');
}

/** A push that is refused before the pack is read. */
export class RefusedPush extends ValidationError {
  readonly ref: string;
  readonly isBanded: boolean;
  constructor(ref: string, problem: string, words: string) {
    super(problem);
    this.ref = ref;
    this.isBanded = isBandedIn(words);
  }
}

/** Replaces control characters by spaces, and cuts the text at 1,000 characters. */
function inOneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced
  return text.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, 1_000);
}

/** Returns the report on a push; `problem` is the reason of a refusal. */
export function reportOf(ref: string, isBanded: boolean, problem: string | null): Buffer {
  const outcome = problem === null ? `ok ${ref}` : `ng ${ref} ${problem}`;
  const lines = [pktLine('unpack ok\n'), pktLine(`${inOneLine(outcome)}\n`), flush];
  const report = Buffer.concat(lines);
  return isBanded ? Buffer.concat([bandLines(1, report), flush]) : report;
}
