// Diagnoses of records of every kind: published elsewhere, hidden, cached, or in a zone that does
// not answer.
import type { ProbeAnswer, ProbeQuestion } from '../../../platform/net/dns-probe.ts';
import { isInRanges } from '../../../platform/net/network-address.ts';
import { cdnRanges } from './cdn-ranges.ts';
import { type Diagnosis, type Facts, namesUpTo, type Suspect } from './facts.ts';

const mostNameServers = 3;

const isMissing = ({ check }: Suspect) => check.status === 'missing';
const isWrong = ({ check }: Suspect) => check.status !== 'valid';
const ownQuestion = ({ record: { type, name } }: Suspect): ProbeQuestion => ({ type, name });

/** Returns whether the record stands under `name` instead of the expected name. */
const isAt = ({ record }: Suspect, facts: Facts, name: string) =>
  record.judge(facts.values(record.type, name)).status === 'valid';

const zoneQuestions = ({ record }: Suspect, { of: { organizational } }: Facts): ProbeQuestion[] =>
  namesUpTo(record.name, organizational).map((name) => ({ type: 'NS', name }));

interface Authority {
  /** The closest name, at or above the record, that has name servers. */
  zone: string;
  hosts: readonly string[];
  /** Addresses of the hosts; null while they are not looked up. */
  addresses: readonly string[] | null;
  /** Addresses of at most three name servers that may be asked. */
  servers: readonly string[];
}

/** Returns the name servers of the zone that contains the record; null while they are unknown. */
function authorityOf(suspect: Suspect, facts: Facts): Authority | null {
  const found = zoneQuestions(suspect, facts).find((question) => {
    const answer = facts.get(question);
    return answer?.kind === 'found' && answer.alias === null;
  });
  if (!found) return null;
  const hosts = facts.values('NS', found.name).slice(0, mostNameServers);
  const asked = hosts.flatMap((name) => addressQuestions(name).map((one) => facts.get(one)));
  if (asked.includes(undefined)) return { zone: found.name, hosts, addresses: null, servers: [] };
  const addresses = asked.flatMap((answer) => answer?.values ?? []);
  const servers = addresses.flatMap((address) => facts.of.authorityAt(address) ?? []);
  return { zone: found.name, hosts, addresses, servers: servers.slice(0, mostNameServers) };
}

function addressQuestions(name: string): ProbeQuestion[] {
  return [
    { type: 'A', name },
    { type: 'AAAA', name },
  ];
}

/** Returns the next questions: the name servers, then their addresses, then the record itself. */
function authorityNeeds(suspect: Suspect, facts: Facts): readonly ProbeQuestion[] {
  if (!isWrong(suspect)) return [];
  const open = zoneQuestions(suspect, facts).filter((question) => !facts.get(question));
  if (open.length > 0) return open;
  const authority = authorityOf(suspect, facts);
  if (authority === null) return [];
  if (authority.addresses === null) return authority.hosts.flatMap(addressQuestions);
  if (authority.servers.length === 0) return [];
  return [{ ...ownQuestion(suspect), servers: authority.servers }];
}

/** Returns the answer of the record's own name servers; undefined if they were not asked. */
export function authorityAnswer(
  suspect: Suspect,
  facts: Facts,
): { zone: string; answer: ProbeAnswer } | undefined {
  const authority = authorityOf(suspect, facts);
  if (!authority || authority.servers.length === 0) return undefined;
  const answer = facts.get({ ...ownQuestion(suspect), servers: authority.servers });
  return answer && { zone: authority.zone, answer };
}

const dnssecBogus: Diagnosis = {
  needs: (suspect, facts) =>
    facts.get(ownQuestion(suspect))?.kind === 'failed'
      ? [{ ...ownQuestion(suspect), isUnchecked: true }]
      : [],
  find(suspect, facts) {
    const unchecked = facts.get({ ...ownQuestion(suspect), isUnchecked: true });
    if (!unchecked || unchecked.problem !== null) return null;
    const { organizational } = facts.of;
    return {
      code: 'dnssec-bogus',
      error: `the DNSSEC signatures of ${organizational} are wrong, so DNS servers that check them give no answer`,
      remedy: `Renew the signatures at the DNS provider of ${organizational}, or remove the DS record at its registrar.`,
    };
  },
};

const noDomain: Diagnosis = {
  needs: (suspect, { of: { organizational } }) =>
    isMissing(suspect) ? [{ type: 'NS', name: organizational }] : [],
  find(suspect, facts) {
    const { organizational } = facts.of;
    const answer = facts.get({ type: 'NS', name: organizational });
    if (!isMissing(suspect) || answer?.kind !== 'not-found') return null;
    return {
      code: 'no-domain',
      error: `${organizational} does not exist in DNS: it is not registered, or its registration has expired`,
      remedy: `Register or renew ${organizational} at a registrar; check the spelling of the domain.`,
    };
  },
};

const lameDelegation: Diagnosis = {
  needs: authorityNeeds,
  find(suspect, facts) {
    const authority = isWrong(suspect) ? authorityOf(suspect, facts) : null;
    if (authority === null || authority.addresses === null) return null;
    const { zone, hosts, addresses } = authority;
    const nowhere = hosts.every((host) =>
      addressQuestions(host).every((question) => {
        const kind = facts.get(question)?.kind;
        return kind === 'no-data' || kind === 'not-found';
      }),
    );
    const kind = authorityAnswer(suspect, facts)?.answer.kind;
    const isDenied = kind === 'refused' || kind === 'failed';
    if (!(addresses.length === 0 && nowhere) && !isDenied) return null;
    const how = isDenied ? 'do not know the zone' : 'have no address';
    return {
      code: 'lame-delegation',
      error: `the name servers of ${zone} (${hosts.join(', ')}) ${how}`,
      remedy: `At the registrar of ${zone}, name the servers of the provider that has its records.`,
    };
  },
};

const staleCache: Diagnosis = {
  needs: authorityNeeds,
  find(suspect, facts) {
    const authority = isWrong(suspect) ? authorityAnswer(suspect, facts) : undefined;
    if (authority?.answer.kind !== 'found') return null;
    if (suspect.record.judge(authority.answer.values).status !== 'valid') return null;
    const ttl = facts.get(ownQuestion(suspect))?.ttlSeconds ?? null;
    const wait = ttl === null ? 'an hour at most' : `${Math.max(1, Math.ceil(ttl / 60))} minutes`;
    return {
      code: 'stale-cache',
      error: `the name servers of ${authority.zone} have the right record; the DNS servers that we ask still keep an older answer`,
      remedy: `Wait: the older answer ends in ${wait}. Nothing else is left to do.`,
    };
  },
};

/** Returns a name beside the record with a random label, which only a wildcard answers. */
const besideOf = ({ record }: Suspect, { of: { randomLabel } }: Facts) =>
  `${randomLabel}.${record.name.slice(record.name.indexOf('.') + 1)}`;

const wildcard: Diagnosis = {
  needs: (suspect, facts) =>
    suspect.check.status === 'invalid' && suspect.record.name !== facts.of.domain
      ? [{ type: suspect.record.type, name: besideOf(suspect, facts) }]
      : [],
  find(suspect, facts) {
    if (suspect.check.status !== 'invalid' || suspect.record.name === facts.of.domain) return null;
    const beside = facts.values(suspect.record.type, besideOf(suspect, facts));
    const own = facts.values(suspect.record.type, suspect.record.name);
    const isSame = own.length === beside.length && own.every((value) => beside.includes(value));
    if (beside.length === 0 || !isSame) return null;
    const zone = suspect.record.name.slice(suspect.record.name.indexOf('.') + 1);
    return {
      code: 'wildcard',
      error: `a wildcard record (*.${zone}) answers for every name, ${suspect.record.name} too`,
      remedy: `Publish the record under its own name: it takes precedence over the wildcard.`,
    };
  },
};

const doubledName: Diagnosis = {
  needs: (suspect, { of: { domain } }) =>
    isMissing(suspect)
      ? [{ type: suspect.record.type, name: `${suspect.record.name}.${domain}` }]
      : [],
  find(suspect, facts) {
    const name = `${suspect.record.name}.${facts.of.domain}`;
    if (!isMissing(suspect) || !isAt(suspect, facts, name)) return null;
    const relative = suspect.record.name.slice(0, -facts.of.domain.length - 1) || '@';
    return {
      code: 'doubled-name',
      error: `the record stands at ${name}: the provider appended the domain once more`,
      remedy: `Enter the name as "${relative}", without the domain.`,
    };
  },
};

/** Returns names under which users often publish a record by mistake. */
function mistakenNames({ record }: Suspect, { of: { domain } }: Facts): string[] {
  const [first = '', ...rest] = record.name.split('.');
  const parent = domain.slice(domain.indexOf('.') + 1);
  const relative = record.name.slice(0, -domain.length - 1);
  const above = parent.includes('.') && relative !== '' ? [`${relative}.${parent}`] : [];
  switch (record.purpose) {
    case 'dkim':
      return [`${first}.${domain}`, rest.join('.'), `${relative}.mail.${domain}`, ...above];
    case 'dmarc':
      return [`dmarc.${domain}`, `${relative}.mail.${domain}`];
    case 'return-path':
      return above;
    default:
      return [];
  }
}

const wrongLabel: Diagnosis = {
  needs: (suspect, facts) =>
    isMissing(suspect)
      ? mistakenNames(suspect, facts).map((name) => ({ type: suspect.record.type, name }))
      : [],
  find(suspect, facts) {
    if (!isMissing(suspect)) return null;
    const name = mistakenNames(suspect, facts).find((one) => isAt(suspect, facts, one));
    if (name === undefined) return null;
    return {
      code: 'wrong-label',
      error: `the record stands at ${name}, not at ${suspect.record.name}`,
      remedy: remedyAt(name, suspect, facts),
    };
  },
};

/**
 * Returns the remedy for a record at a wrong name. A record outside of the domain stays, because
 * the parent domain may need it.
 */
function remedyAt(name: string, { record }: Suspect, { of: { domain } }: Facts): string {
  if (name.endsWith(`.${domain}`)) return `Move it to ${record.name}.`;
  const parent = domain.slice(domain.indexOf('.') + 1);
  return `Add it at ${record.name}. Leave the record at ${name} if ${parent} sends mail too.`;
}

const isBelowApex = ({ record }: Suspect) =>
  record.purpose === 'dkim' || record.purpose === 'dmarc';

const atApex: Diagnosis = {
  needs: (suspect, { of: { domain } }) =>
    isMissing(suspect) && isBelowApex(suspect) ? [{ type: suspect.record.type, name: domain }] : [],
  find(suspect, facts) {
    const { domain } = facts.of;
    if (!isMissing(suspect) || !isBelowApex(suspect) || !isAt(suspect, facts, domain)) return null;
    return {
      code: 'at-apex',
      error: `the record stands at ${domain} itself, not at ${suspect.record.name}`,
      remedy: `Move it to ${suspect.record.name}.`,
    };
  },
};

const proxied: Diagnosis = {
  needs: (suspect) =>
    isWrong(suspect) && suspect.record.purpose === 'return-path'
      ? [{ type: 'A', name: suspect.record.name }]
      : [],
  find(suspect, facts) {
    const { name, purpose } = suspect.record;
    if (!isWrong(suspect) || purpose !== 'return-path') return null;
    const address = facts.values('A', name).find((one) => isInRanges(one, cdnRanges));
    if (address === undefined) return null;
    return {
      code: 'proxied',
      error: `${name} is proxied by a CDN (${address}), which hides its other records and takes no mail`,
      remedy:
        'At the CDN, set the record to "DNS only", then publish the records that are shown here.',
    };
  },
};

const delegated: Diagnosis = {
  needs: authorityNeeds,
  find(suspect, facts) {
    const authority = isMissing(suspect) ? authorityOf(suspect, facts) : null;
    if (authority === null || !authority.zone.endsWith(`.${facts.of.domain}`)) return null;
    const { zone, hosts } = authority;
    return {
      code: 'delegated',
      error: `${zone} is delegated to other name servers (${hosts.join(', ')}), where the record is missing`,
      remedy: `Publish the record at the provider of ${hosts[0]}, or remove the NS records of ${zone}.`,
    };
  },
};

const missing: Diagnosis = {
  find(suspect) {
    if (!isMissing(suspect)) return null;
    const { type, name } = suspect.record;
    return {
      code: 'missing',
      error: `there is no ${type} record of ${name}`,
      remedy:
        'Publish the record that is shown here. A new record can take some minutes to appear.',
    };
  },
};

const unanswered: Diagnosis = {
  find(suspect, facts) {
    if (suspect.check.status !== 'pending') return null;
    const problem = facts.get(ownQuestion(suspect))?.problem ?? suspect.check.error ?? '';
    return {
      code: 'unanswered',
      error: problem,
      remedy: 'Check again later; if this lasts, look at dns.servers of the configuration.',
    };
  },
};

/** Diagnoses that explain why a record of any kind is not seen. */
export const hiddenDiagnoses: readonly Diagnosis[] = [
  dnssecBogus,
  noDomain,
  lameDelegation,
  staleCache,
  wildcard,
];

/** Diagnoses of a record that is published elsewhere, hidden by a proxy, missing or unanswered. */
export const placeDiagnoses: readonly Diagnosis[] = [
  doubledName,
  wrongLabel,
  atApex,
  proxied,
  delegated,
  missing,
  unanswered,
];
