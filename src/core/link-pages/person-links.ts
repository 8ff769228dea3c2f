// Paths of the links that persons get by mail, before the token. The console draws their pages.

/**
 * Path of mailed links of persons: to sign in, to prove the identity again, or about an address.
 */
export const linkPath = '/console/link/';

export const invitationPath = '/console/invitation/';
