// A resolver that answers with the DKIM keys of domains, so that tests can verify signatures.

/** The part of a domain that the resolver needs. */
export interface DkimDomain {
  domain: string;
  dkimKeys: readonly { selector: string; algorithm: string; publicKey: string }[];
}

/** Answers as if each domain had published the public keys that the API shows. */
export function dkimResolver(domains: readonly DkimDomain[]) {
  const records = new Map<string, string>(
    domains.flatMap(({ domain, dkimKeys }) =>
      dkimKeys.map(({ selector, algorithm, publicKey }) => {
        const text = `v=DKIM1; k=${algorithm.split('-')[0]}; p=${publicKey}`;
        return [`${selector}._domainkey.${domain}`, text] as const;
      }),
    ),
  );
  return async (name: string): Promise<string[][]> => {
    const text = records.get(name);
    if (text === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
    return [text.match(/.{1,255}/g) ?? []];
  };
}
