// Words that mail services write in columns of reasons or states, and names of columns in six
// languages. All texts are keys (`columnKey` of src/platform/csv/read-table.ts).
import type { BlockReason } from '../blocks/schema.ts';

const words = (reason: BlockReason, all: readonly string[]) =>
  all.map((word) => [word, reason] as const);

/** Words that mean an opt-out in any column, with the reason of the block. */
export const optOutWords: ReadonlyMap<string, BlockReason> = new Map([
  ...words('unsubscribe', ['unsubscribed', 'unsubscribe', 'optout', 'optedout', 'emailoptout']),
  ...words('unsubscribe', ['blocklisted', 'blacklisted', 'emailblacklisted', 'emailblocklisted']),
  ...words('unsubscribe', ['globalunsubscribe', 'donotemail', 'donotcontact', 'withdrawn']),
  ...words('bounce', ['bounced', 'bounce', 'hardbounce', 'hardbounced', 'emailhardbounced']),
  ...words('complaint', ['complained', 'complaint', 'spamcomplaint', 'spamreport', 'markedasspam']),
  ...words('manual', ['suppressed', 'usersuppressed', 'manualsuppression']),
]);

/** Words that mean a block in a column of reasons or states. */
export const reasonWords: ReadonlyMap<string, BlockReason> = new Map([
  ...optOutWords,
  ...words('bounce', ['cleaned', 'invalid', 'invalidemail']),
  ...words('complaint', ['spam', 'abuse']),
  // States of a contact that exists but gets no mail.
  ...words('manual', ['disabled', 'blocked', 'manual']),
]);

/** Keys of columns by language and use, separated by spaces. */
export const languageColumns = {
  english: {
    firstName: 'givenname forename',
    lastName: 'surname familyname',
    company: 'companyname organisation organization',
    language: 'preferredlanguage',
  },
  german: {
    email: 'emailadresse mailadresse',
    otherEmails: 'weitereemailadressen',
    externalId: 'externeid',
    name: 'vollstandigername ganzername',
    displayName: 'anzeigename',
    firstName: 'vorname rufname',
    lastName: 'nachname familienname zuname',
    company: 'firma firmenname unternehmen',
    jobTitle: 'berufsbezeichnung',
    country: 'land',
    state: 'bundesland kanton',
    city: 'ort stadt wohnort',
    timezone: 'zeitzone',
    language: 'sprache',
    tags: 'schlagworte schlagworter stichworte stichworter',
    unsubscribed: 'abgemeldet',
    unsubscribedAt: 'abgemeldetam abmeldedatum',
  },
  french: {
    email: 'courriel adresseemail adressemail adressecourriel adresseelectronique',
    externalId: 'idexterne identifiantexterne',
    name: 'nom nomcomplet nometprenom prenometnom',
    firstName: 'prenom',
    lastName: 'nomdefamille',
    company: 'societe entreprise',
    jobTitle: 'fonction intituleduposte',
    country: 'pays',
    city: 'ville',
    timezone: 'fuseauhoraire',
    language: 'langue',
    tags: 'etiquettes motscles',
    unsubscribed: 'desinscrit desabonne',
    unsubscribedAt: 'datededesinscription',
  },
  spanish: {
    email: 'correo correoelectronico direcciondecorreo direcciondecorreoelectronico',
    externalId: 'idexterno',
    name: 'nombre nombrecompleto nombreyapellidos',
    firstName: 'primernombre',
    lastName: 'apellido apellidos',
    company: 'empresa',
    jobTitle: 'cargo puesto',
    country: 'pais',
    state: 'provincia',
    city: 'ciudad localidad',
    timezone: 'zonahoraria husohorario',
    language: 'idioma',
    tags: 'etiquetas',
    unsubscribed: 'dadodebaja',
    unsubscribedAt: 'fechadebaja',
  },
  italian: {
    email: 'indirizzoemail indirizzomail postaelettronica indirizzodipostaelettronica',
    externalId: 'idesterno',
    name: 'nome nomecompleto nomeecognome',
    lastName: 'cognome',
    company: 'azienda ragionesociale',
    jobTitle: 'qualifica mansione',
    country: 'paese nazione',
    city: 'citta comune',
    timezone: 'fusoorario',
    language: 'lingua',
    tags: 'etichette',
    unsubscribed: 'disiscritto',
    unsubscribedAt: 'datadisiscrizione',
  },
  dutch: {
    email: 'emailadres mailadres',
    externalId: 'externid',
    name: 'naam volledigenaam',
    firstName: 'voornaam',
    lastName: 'achternaam familienaam',
    company: 'bedrijf bedrijfsnaam organisatie',
    jobTitle: 'functie functietitel',
    state: 'provincie',
    city: 'plaats woonplaats stad',
    timezone: 'tijdzone',
    language: 'taal',
    tags: 'trefwoorden',
    unsubscribed: 'uitgeschreven afgemeld',
    unsubscribedAt: 'datumuitschrijving uitgeschrevenop',
  },
} as const;

/**
 * Columns that hold only a part of the name beside a column of the second part: "Name" is the last
 * name beside "Vorname".
 */
export const namesBeside = [
  { beside: 'vorname', unless: 'nachname familienname zuname', part: 'lastName', name: 'name' },
  { beside: 'prenom', unless: 'nomdefamille', part: 'lastName', name: 'nom' },
  { beside: 'voornaam', unless: 'achternaam familienaam', part: 'lastName', name: 'naam' },
  { beside: 'cognome', unless: '', part: 'firstName', name: 'nome' },
  { beside: 'apellido', unless: '', part: 'firstName', name: 'nombre' },
  { beside: 'apellidos', unless: '', part: 'firstName', name: 'nombre' },
] as const;
