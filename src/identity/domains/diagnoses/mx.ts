// Diagnoses of MX records: of the return path, and of a domain that receives mail here.
import { isIP } from 'node:net';
import type { ProbeQuestion } from '../../../platform/net/dns-probe.ts';
import type { Diagnosis, Suspect } from './facts.ts';

const isMx = ({ record }: Suspect) => record.type === 'MX';
const hostsOf = ({ check: { found } }: Suspect) =>
  found.map((value) => (value.split(' ')[1] ?? '').replace(/\.$/, '').toLowerCase());

const wrong = (suspect: Suspect) => isMx(suspect) && suspect.check.status === 'invalid';

const nullMx: Diagnosis = {
  find(suspect) {
    if (!wrong(suspect) || !hostsOf(suspect).includes('')) return null;
    const { name } = suspect.record;
    return {
      code: 'null-mx',
      error: `${name} says that it receives no mail (null MX, RFC 7505), so no bounce can come back`,
      remedy: 'Replace the record by the one that is shown here.',
    };
  },
};

const mxAddress: Diagnosis = {
  find(suspect) {
    const address = wrong(suspect) ? hostsOf(suspect).find((host) => isIP(host) !== 0) : undefined;
    if (address === undefined) return null;
    return {
      code: 'mx-address',
      error: `the MX names the address ${address}; it must name a host (RFC 5321 5.1)`,
      remedy: 'Replace the record by the one that is shown here.',
    };
  },
};

const isLocal = (host: string) => host === 'localhost' || host.endsWith('.localhost');

const mxLocalhost: Diagnosis = {
  find(suspect) {
    if (!isMx(suspect) || !hostsOf(suspect).some(isLocal)) return null;
    return {
      code: 'mx-localhost',
      error: 'the MX names localhost, which is another machine for everybody',
      remedy: 'Set delivery.hostname to the public name of this machine, and publish that.',
    };
  },
};

/** A CNAME at the name hides every record beside it. */
const cnameAndOther: Diagnosis = {
  find(suspect, facts) {
    const { record, check } = suspect;
    if (record.purpose !== 'return-path' || check.status === 'valid') return null;
    const alias = facts.get({ type: record.type, name: record.name })?.alias ?? null;
    if (alias === null) return null;
    return {
      code: 'cname-and-other',
      error: `${record.name} is an alias of ${alias}: no other record may stand beside a CNAME (RFC 1034 3.6.2)`,
      remedy: 'Delete the CNAME, then publish the records that are shown here.',
    };
  },
};

/**
 * Some servers answer both an MX and a CNAME for a name. Then some receivers see the MX, and some
 * follow the CNAME.
 */
const cnameBesideMx: Diagnosis = {
  needs: (suspect) => (isMx(suspect) && suspect.check.found.length > 0 ? [ownAlias(suspect)] : []),
  find(suspect, facts) {
    if (!isMx(suspect) || suspect.check.found.length === 0) return null;
    const { name } = suspect.record;
    const [alias] = facts.values('CNAME', name);
    // If the resolver followed the CNAME, the MX is that of the alias, and is not beside the CNAME.
    if (alias === undefined || facts.get({ type: 'MX', name })?.alias != null) return null;
    return {
      code: 'cname-and-other',
      error: `${name} has a CNAME to ${alias} beside its MX: receivers that follow the CNAME do not see the MX (RFC 1034 3.6.2)`,
      remedy: 'Delete the CNAME.',
    };
  },
};

const ownAlias = ({ record }: Suspect): ProbeQuestion => ({ type: 'CNAME', name: record.name });

const aliasQuestions = (suspect: Suspect): ProbeQuestion[] =>
  isMx(suspect)
    ? hostsOf(suspect)
        .filter((host) => host !== '' && isIP(host) === 0 && !isLocal(host))
        .slice(0, 5)
        .map((name) => ({ type: 'CNAME', name }))
    : [];

const mxCname: Diagnosis = {
  needs: aliasQuestions,
  find(suspect, facts) {
    const alias = aliasQuestions(suspect).find((question) => facts.get(question)?.kind === 'found');
    if (!alias) return null;
    return {
      code: 'mx-cname',
      error: `the MX names ${alias.name}, which is a CNAME; it must name a host with addresses (RFC 2181 10.3)`,
      remedy: `Give ${alias.name} A and AAAA records instead of its CNAME, or name another host.`,
    };
  },
};

const hostQuestions = (mailHost: string): readonly ProbeQuestion[] => [
  { type: 'A', name: mailHost },
  { type: 'AAAA', name: mailHost },
];

const hostnameUnresolved: Diagnosis = {
  needs: (suspect, { of: { mailHost } }) =>
    isMx(suspect) && suspect.check.status === 'valid' ? hostQuestions(mailHost) : [],
  find(suspect, facts) {
    if (!isMx(suspect) || suspect.check.status !== 'valid') return null;
    const { mailHost } = facts.of;
    const answers = hostQuestions(mailHost).map((question) => facts.get(question));
    const isNowhere = answers.every((one) => one?.kind === 'no-data' || one?.kind === 'not-found');
    if (!isNowhere) return null;
    return {
      code: 'hostname-unresolved',
      error: `${mailHost} has no address, so no bounce can come back`,
      remedy: `Publish an A or AAAA record of ${mailHost} with the address of this machine.`,
    };
  },
};

const otherHosts: Diagnosis = {
  find(suspect, { of: { mailHost } }) {
    if (!wrong(suspect)) return null;
    const isOwn = suspect.record.purpose === 'mx';
    return {
      code: 'other-hosts',
      error: `mail goes to other hosts than ${mailHost}`,
      remedy: isOwn
        ? 'Publish the record that is shown here once this service shall receive all mail of the domain.'
        : 'Replace the record by the one that is shown here.',
    };
  },
};

export const mxDiagnoses: readonly Diagnosis[] = [
  cnameAndOther,
  cnameBesideMx,
  nullMx,
  mxAddress,
  mxLocalhost,
  mxCname,
  otherHosts,
  hostnameUnresolved,
];
