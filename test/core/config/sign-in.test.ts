// Keys of console.signIn: bounds, rules between them, and words of the errors.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../../../src/core/config/config.ts';
import { describeConfig } from '../../../src/core/config/show.ts';

let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-sign-in-'));
});

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

function load(signIn: object, env: Record<string, string> = {}) {
  writeFileSync(join(cwd, 'config.yaml'), stringify({ console: { signIn } }));
  return loadConfig({ env: { HOME: cwd, ...env }, cwd });
}

/** Returns the error without places. */
function refusalOf(signIn: object): string {
  try {
    load(signIn);
  } catch (error) {
    return String(error).replaceAll(/\S*config\.yaml:\d+:\d+: console\.signIn\./g, '');
  }
  return 'accepted';
}

const organization = `org_${'0'.repeat(20)}`;
const provider = { issuer: 'https://id.example.com', clientId: 'svc' };

describe('console.signIn', () => {
  it('allows every way by default, and has no provider', () => {
    const { signIn } = load({}).config.console;
    expect(signIn).toMatchObject({ link: true, passkeys: true, keys: true, from: null });
    expect(signIn.oidc).toMatchObject({ issuer: null, label: 'SSO', only: false, auto: false });
    expect(signIn.oidc.scopes).toEqual(['openid', 'email', 'profile']);
    expect(signIn.oidc.emailVerifiedClaim).toBe('email_verified');
  });

  it('warns if no way is left', () => {
    const none = { link: false, passkeys: false, keys: false };
    const words =
      'console.signIn turns off every way to sign in: only the links of "svc open" work';
    expect(load(none).warnings).toEqual([words]);
    expect(load({ ...none, oidc: provider }).warnings).toEqual([]);
  });

  it('keeps addresses and domains in normal form', () => {
    const oidc = { ...provider, domains: ['Bücher.example', 'EXAMPLE.com'] };
    const { signIn } = load({ from: 'Hi@EXAMPLE.com', oidc }).config.console;
    expect(signIn.from).toBe('Hi@example.com');
    expect(signIn.oidc.domains).toEqual(['xn--bcher-kva.example', 'example.com']);
  });

  it('hides the secret of the client', () => {
    const env = { SVC_CONSOLE_SIGN_IN_OIDC_CLIENT_SECRET: 'hunter2' };
    const shown = describeConfig(load({ oidc: provider }, env));
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    expect(refusalOf({ oidc: { ...provider, clientSecret: ['hunter2'] } })).not.toContain(
      'hunter2',
    );
  });

  it('keeps an issuer as it is written, with a slash at the end', () => {
    const issuer = 'https://sso.example.com/application/o/svc/';
    expect(load({ oidc: { ...provider, issuer } }).config.console.signIn.oidc.issuer).toBe(issuer);
  });

  it.each([
    'http://127.0.0.1:9000/realms/a',
    'http://localhost:9000',
    'http://[::1]:9000',
    'https://login.microsoftonline.com/8f2c6e04-0000-0000-0000-000000000000/v2.0',
    'https://id.example.com/realms/common',
  ])('accepts the issuer %s', (issuer) => {
    expect(refusalOf({ oidc: { ...provider, issuer } })).toBe('accepted');
  });

  it.each([
    ['http://id.example.com', 'https:// (http:// only on this machine)'],
    ['ftp://id.example.com', 'https:// (http:// only on this machine)'],
    ['id.example.com', 'a URL that starts with https://'],
    ['https://u:p@id.example.com', 'a URL without user name and password'],
    ['https://id.example.com/?a=b', 'a URL that starts with https://, without query'],
    ['https://login.microsoftonline.com/common/v2.0', 'anybody can have an account of common'],
    ['https://login.microsoftonline.com/organizations/v2.0', 'account of organizations'],
    ['https://login.microsoftonline.com/CONSUMERS/v2.0', 'account of consumers'],
    ['https://login.microsoftonline.com/{tenantid}/v2.0', 'the issuer of a single tenant'],
    [
      'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
      'the issuer of a single tenant',
    ],
  ])('stops the start for the issuer %s', (issuer, words) => {
    const text = refusalOf({ oidc: { ...provider, issuer } });
    expect(text).toContain('oidc.issuer: found ');
    expect(text).toContain(words);
  });

  it.each([
    [{ link: 'yes' }, 'link: found "yes", expected true or false'],
    [{ from: 'nobody' }, 'from: found "nobody", expected a mail address'],
    [{ oidc: { clientId: 'a' } }, 'oidc.issuer: found nothing, expected a URL, because clientId'],
    [{ oidc: { only: true } }, 'oidc.issuer: found nothing, expected a URL, because only'],
    [{ oidc: { issuer: provider.issuer } }, 'oidc.clientId: found nothing, expected text'],
    [
      { oidc: { ...provider, scopes: ['email'] } },
      'oidc.scopes: found ["email"], expected a list with',
    ],
    [{ oidc: { ...provider, domains: ['a b'] } }, 'expected a domain such as example.com'],
    [
      { oidc: { ...provider, only: true } },
      'oidc.join.organization: found nothing, expected the id',
    ],
    [
      { oidc: { ...provider, join: { organization: 'acme' } } },
      'oidc.join.organization: found "acme", expected the id of an organization (org_…)',
    ],
    [
      { oidc: { ...provider, join: { organization, role: 'viewer' } } },
      'oidc.domains: found nothing, expected a list with a domain',
    ],
    [
      { oidc: { ...provider, domains: ['example.com'], join: { organization, role: 'owner' } } },
      'oidc.join.role: found owner, expected another role',
    ],
    [
      { oidc: { ...provider, join: { organization, role: 'boss' } } },
      'oidc.join.role: found "boss", expected one of owner, admin',
    ],
    [
      { oidc: { ...provider, join: { organization }, roles: { claim: 'groups' } } },
      'oidc.roles.map: found nothing, expected a map',
    ],
    [
      { oidc: { ...provider, join: { organization }, roles: { map: { a: 'viewer' } } } },
      'oidc.roles.claim: found nothing, expected the name of a claim',
    ],
    [
      { oidc: { ...provider, roles: { claim: 'groups', map: { a: 'viewer' } } } },
      'oidc.join.organization: found nothing, expected the id of an organization',
    ],
    [
      {
        oidc: {
          ...provider,
          join: { organization },
          roles: { claim: 'groups', map: { a: 'owner' } },
        },
      },
      'oidc.roles.owners: found false, expected true, because roles.map gives the role owner',
    ],
  ])('refuses %j', (signIn, words) => {
    expect(refusalOf(signIn)).toContain(words);
  });

  it('reads lists and maps of the environment as JSON', () => {
    const { oidc } = load(
      { oidc: { ...provider, join: { organization }, roles: { claim: 'groups' } } },
      {
        SVC_CONSOLE_SIGN_IN_OIDC_ROLES_MAP: '{"mail-admins":"admin"}',
        SVC_CONSOLE_SIGN_IN_OIDC_DOMAINS: '["example.com"]',
      },
    ).config.console.signIn;
    expect(oidc.roles.map).toEqual({ 'mail-admins': 'admin' });
    expect(oidc.domains).toEqual(['example.com']);
  });
});
