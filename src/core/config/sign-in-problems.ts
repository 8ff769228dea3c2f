// Rules between the keys of `console.signIn` that are valid alone.
import type { Contradiction } from './contradiction.ts';
import type { Config } from './schema.ts';

const at = 'console.signIn.oidc';

/** Finds settings of a provider without effect, or that would let in unintended people. */
export function signInContradictions({ console: { signIn } }: Config): Contradiction[] {
  const { issuer, clientId, clientSecret, scopes, domains, join, roles, only, auto } = signIn.oidc;
  const found: Contradiction[] = [];
  const rule = (holds: boolean, name: string, because: string, text: string) => {
    if (!holds) found.push({ path: `${at}.${name}`, because: `${at}.${because}`, text });
  };
  const isMapped = Object.keys(roles.map).length > 0;
  const given: readonly (readonly [name: string, isGiven: boolean])[] = [
    ['clientId', clientId !== null],
    ['clientSecret', clientSecret !== null],
    ['domains', domains.length > 0],
    ['join.organization', join.organization !== null],
    ['roles.claim', roles.claim !== null],
    ['only', only],
    ['auto', auto],
  ];
  const [because] = given.find(([, isGiven]) => isGiven) ?? [];
  if (because)
    rule(issuer !== null, 'issuer', because, `expected a URL, because ${because} is set`);
  if (issuer !== null) {
    rule(clientId !== null, 'clientId', 'issuer', 'expected text, because issuer is set');
  }
  rule(scopes.includes('openid'), 'scopes', 'scopes', 'expected a list with openid');

  const organization = 'join.organization';
  const needsOrganization = (isSet: boolean, name: string) =>
    rule(
      !isSet || join.organization !== null,
      organization,
      name,
      `expected the id of an organization, because ${name} is set`,
    );
  needsOrganization(join.role !== null, 'join.role');
  needsOrganization(roles.claim !== null, 'roles.claim');
  needsOrganization(only, 'only');
  const another = 'expected another role: an owner comes by an invitation or by roles.map';
  rule(join.role !== 'owner', 'join.role', 'join.role', another);
  rule(
    join.role === null || domains.length > 0,
    'domains',
    'join.role',
    'expected a list with a domain: join.role is for people with an address there',
  );

  rule(
    roles.claim !== null || !isMapped,
    'roles.claim',
    'roles.map',
    'expected the name of a claim, because roles.map is set',
  );
  rule(
    isMapped || roles.claim === null,
    'roles.map',
    'roles.claim',
    'expected a map from values of the claim to roles, because roles.claim is set',
  );
  rule(
    roles.owners || !Object.values(roles.map).includes('owner'),
    'roles.owners',
    'roles.map',
    'expected true, because roles.map gives the role owner',
  );
  return found;
}

/** Returns a warning if no person can sign in, or null. */
export function signInDoubt({ console: { enabled, signIn } }: Config): string | null {
  const { link, passkeys, keys, oidc } = signIn;
  if (!enabled || link || passkeys || keys || oidc.issuer !== null) return null;
  return 'console.signIn turns off every way to sign in: only the links of "svc open" work';
}
