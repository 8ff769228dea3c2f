// The console and the ways to sign in there. Defines keys; sign-in-problems.ts has the rules
// between them.
import { z } from 'zod';
import { idPattern } from '../../platform/runtime/ids.ts';
import { roles } from './roles.ts';
import {
  choice,
  issuer,
  lineOfText,
  listOf,
  mailAddress,
  mailDomain,
  mapOfKeys,
  onOff,
} from './values.ts';

const rolesExpected = 'a map from values of the claim to roles';

const join = z.strictObject(
  {
    organization: z
      .string('the id of an organization (org_…)')
      .regex(idPattern('organization'), 'the id of an organization (org_…)')
      .nullable()
      .default(null)
      .describe('Organization of join.role, roles and only; null: nobody joins by an address'),
    role: choice(roles)
      .nullable()
      .default(null)
      .describe('Role of somebody new without roles.claim; null: only invited people come in'),
  },
  mapOfKeys,
);

const claimedRoles = z.strictObject(
  {
    claim: lineOfText('the name of a claim')
      .nullable()
      .default(null)
      .describe('Claim of the ID token that gives the role at every sign-in, such as groups'),
    map: z
      .record(lineOfText('a value of the claim'), choice(roles), rolesExpected)
      .default({})
      .describe('Role of each value of the claim; the role of most rights counts'),
    owners: onOff.default(false).describe('Allow the role owner in roles.map'),
  },
  mapOfKeys,
);

const oidc = z.strictObject(
  {
    issuer: issuer
      .nullable()
      .default(null)
      .describe('Issuer of OpenID Connect, exactly as its discovery document says; null: off'),
    clientId: lineOfText().nullable().default(null).describe('Client id at the provider'),
    clientSecret: lineOfText()
      .nullable()
      .default(null)
      .describe('Its secret; null for a public client. SVC_CONSOLE_SIGN_IN_OIDC_CLIENT_SECRET'),
    label: lineOfText().default('SSO').describe('Name of the provider: "Continue with …"'),
    scopes: listOf(lineOfText('a scope'), 'scopes', 1)
      .default(['openid', 'email', 'profile'])
      .describe('Scopes to ask for; with openid'),
    domains: listOf(mailDomain, 'domains')
      .default([])
      .describe('Mail domains whose people may come in by their address alone'),
    emailVerifiedClaim: lineOfText('the name of a claim')
      .default('email_verified')
      .describe('Claim that is true if the provider proved the address; Entra: xms_edov'),
    join: join.prefault({}).describe('Place of people whom only the provider knows'),
    roles: claimedRoles.prefault({}).describe('Roles by a claim, in join.organization'),
    only: onOff
      .default(false)
      .describe('Members of join.organization come in by the provider alone'),
    auto: onOff.default(false).describe('Go to the provider without a click'),
  },
  mapOfKeys,
);

const signIn = z.strictObject(
  {
    link: onOff.default(true).describe('Sign in by a mailed link'),
    passkeys: onOff.default(true).describe('Sign in by a passkey'),
    keys: onOff.default(true).describe('Sign in by a pasted API key'),
    from: mailAddress
      .nullable()
      .default(null)
      .describe('Sender of mailed links; null: default sender of the first organization'),
    oidc: oidc.prefault({}).describe('Single sign-on by OpenID Connect'),
  },
  mapOfKeys,
);

export const consoleSection = z.strictObject(
  {
    enabled: onOff.default(true).describe('Serve the web console'),
    signIn: signIn.prefault({}).describe('Ways to sign in'),
  },
  mapOfKeys,
);

interface Named {
  console: { signIn: { oidc: { issuer: string | null; label: string } } };
}

/** Returns the label of the provider, for sentences; `single sign-on` without a provider. */
export function providerName({ console: { signIn } }: Named): string {
  return signIn.oidc.issuer === null ? 'single sign-on' : signIn.oidc.label;
}
