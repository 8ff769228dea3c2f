// The answers for `svc init --production`: flags, and questions to the person for missing answers.
import type { ProductionAnswers } from '../../../src/core/config/production.ts';
import { ValidationError } from '../../../src/platform/errors.ts';
import type { CommonFlags } from '../command.ts';
import { canAsk, typedLine } from '../input/ask.ts';
import { UsageError } from '../output/failure.ts';
import { writeNote } from '../output/output.ts';

export const modes = ['direct', 'relay', 'capture'] as const;

export interface ProductionFlags extends CommonFlags {
  domain?: string | undefined;
  owner?: string | undefined;
  hostname?: string | undefined;
  'public-url'?: string | undefined;
  mode?: ProductionAnswers['mode'] | undefined;
  'relay-host'?: string | undefined;
  'data-dir'?: string | undefined;
  print?: boolean | undefined;
}

/** A question for the value of a flag, which has the same name. */
interface Question {
  flag: 'hostname' | 'mode' | 'domain' | 'relay-host' | 'owner';
  text: string;
  /** Answer if the person only presses Enter. */
  usual?: string | undefined;
  /** Returns the problem with an answer; null for a valid answer. */
  problem?(answer: string): string | null;
}

/** Asks a question at the terminal. */
export type Ask = (question: Question) => Promise<string>;

/** Asks at the terminal until the answer is valid. */
export async function askAtTerminal({ text, usual, problem }: Question): Promise<string> {
  const hint = usual === undefined ? '' : ` (Enter: ${usual})`;
  for (;;) {
    const answer = (await typedLine(`${text}${hint}`)) || usual || '';
    const found = answer === '' ? 'is needed' : (problem?.(answer) ?? null);
    if (found === null) return answer;
    writeNote(`"${answer}" ${found}`);
  }
}

/** Returns the function that asks at the terminal; null without a terminal. */
export const usualAsk = (): Ask | null => (canAsk() ? askAtTerminal : null);

/** Refuses a call without a terminal that lacks flags; names all of them. @throws UsageError */
function refuseMissing(flags: ProductionFlags): void {
  const missing = [
    ...(flags.domain === undefined ? ['--domain'] : []),
    ...(flags.mode === 'relay' && flags['relay-host'] === undefined ? ['--relay-host'] : []),
  ];
  if (missing.length === 0) return;
  throw new UsageError(`There is no terminal to ask on: give ${missing.join(' and ')}`);
}

const isMode = (text: string) => modes.find((mode) => mode === text);

/**
 * Returns `example.com` for the host `mail.example.com`; undefined if a single label would be left.
 */
function domainBelow(hostname: string): string | undefined {
  const below = hostname.split('.').slice(1);
  return below.length > 1 ? below.join('.') : undefined;
}

/** Returns the domain in lower case. @throws ValidationError; UsageError without a terminal */
export async function askForDomain(
  { domain }: ProductionFlags,
  ask: Ask | null,
  hostname = '',
): Promise<string> {
  const { readDomainName } = await import('../../../src/identity/domains/schema.ts');
  const problem = (name: string) => {
    const read = readDomainName(name);
    return 'problem' in read ? read.problem : null;
  };
  if (domain === undefined && ask === null) refuseMissing({ json: false });
  const text = 'Sending domain, such as example.com';
  const named =
    domain ?? (await ask?.({ flag: 'domain', text, usual: domainBelow(hostname), problem })) ?? '';
  const read = readDomainName(named);
  if ('problem' in read) throw ValidationError.of('domain', read.problem);
  return read.domain;
}

/** Answer for an installation without an owner. */
const nobody = 'none';

/**
 * Returns the address of the first owner in normal form; null without an owner.
 * @throws ValidationError
 */
export async function askForOwner(
  { owner }: ProductionFlags,
  ask: Ask | null,
): Promise<string | null> {
  const { normalAddress } = await import('../../../src/access/members/address.ts');
  const invalid = 'is not an address such as ann@example.com';
  const problem = (text: string) =>
    text === nobody || normalAddress(text) !== null ? null : invalid;
  const text = 'Address of an owner who signs in to the console';
  const named = owner ?? (await ask?.({ flag: 'owner', text, usual: nobody, problem })) ?? nobody;
  if (named === nobody) return null;
  const email = normalAddress(named);
  if (email === null) throw ValidationError.of('owner', invalid);
  return email;
}

/**
 * Returns the answers; asks for host name, mode, relay host and domain, in this order.
 * @throws UsageError that names all missing flags without a terminal; ValidationError of the domain
 */
export async function answersOf(
  flags: ProductionFlags,
  { ask, ownName, dataDir }: { ask: Ask | null; ownName: string; dataDir: string },
): Promise<ProductionAnswers & { domain: string }> {
  if (ask === null) refuseMissing(flags);
  // Refuses an invalid flag before the first question.
  const given = flags.domain === undefined ? undefined : await askForDomain(flags, null);
  const usualName = given === undefined ? ownName : `mail.${given}`;
  const usual = usualName.includes('.') ? usualName : undefined;
  const hostname =
    flags.hostname ??
    (await ask?.({ flag: 'hostname', text: 'Public name of this machine', usual })) ??
    usualName;
  const typedMode =
    flags.mode ??
    (await ask?.({
      flag: 'mode',
      text: 'Route of mail: direct, relay or capture',
      usual: 'direct',
      problem: (text) => (isMode(text) ? null : `is not ${modes.join(', ')}`),
    }));
  const mode = isMode(typedMode ?? '') ?? 'direct';
  const relayHost =
    mode === 'relay' && flags['relay-host'] === undefined
      ? ((await ask?.({ flag: 'relay-host', text: 'Host of the smarthost' })) ?? null)
      : (flags['relay-host'] ?? null);
  const domain = given ?? (await askForDomain(flags, ask, hostname));
  const publicUrl = flags['public-url'] ?? `https://${hostname}`;
  return { domain, hostname, publicUrl, mode, relayHost, dataDir };
}
