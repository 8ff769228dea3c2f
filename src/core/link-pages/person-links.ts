// Paths of the links that persons get by mail, before the token. The console draws their pages.

/** Path of a link to sign in, to prove who is at the browser, or about an address. */
export const linkPath = '/console/link/';

export const invitationPath = '/console/invitation/';
