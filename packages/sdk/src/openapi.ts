// Generated from openapi.json by `npm run openapi`.

export interface paths {
  readonly '/api/v1/bots/register': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Register a bot and receive its API key
     * @description Makes the bot a tenant and answers its API key and its webhook secret. Both are shown only here: the service keeps a digest of the key. `notice` sets what the privacy notice says about the bot from its first moment. A repeat with the same `platform_bot_id` is refused with 409 `bot_exists`. The operator can demand a token, sent as `X-Registration-Token` (else 401), or refuse all registrations (404).
     */
    readonly post: operations['botsRegister'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/bots/me': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read the bot of the key
     * @description Answers what `GET /bots/{bot_id}` answers, for a caller who knows the key alone.
     */
    readonly get: operations['botsMe'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/bots/{bot_id}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read the bot
     * @description Answers what is stored about the bot that the key belongs to, and the state of its webhook calls. Any other id is answered with 404, whether a bot has it or not.
     */
    readonly get: operations['botsView'];
    /**
     * Change what is given; null clears
     * @description Changes the fields that the body names and leaves the others as they are. `null` removes `privacy_contact` or `webhook_url`. The answer is the whole bot after the change. A repeat has the same result.
     */
    readonly put: operations['botsChange'];
    readonly post?: never;
    /**
     * Delete the bot and all its data; irreversible
     * @description Voids the API keys at once, then deletes everything that the bot has stored: users, consents, categories, webhook calls and its audit log. No webhook is sent. A repeat is answered with 401, since the key no longer exists; afterwards the same `platform_bot_id` can be registered again. A suspended bot cannot be deleted by its key.
     */
    readonly delete: operations['botsDelete'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/bots/{bot_id}/webhook-secret/rotate': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Replace the secret that signs the webhook calls
     * @description Issues a new webhook secret, which is shown only here. Until `overlap_until` calls carry signatures of both secrets, so that no call is lost while the receiver changes over. While two secrets overlap a further rotation is refused with 409 `rotation_in_progress`, unless it ends the overlap with `overlap_seconds` 0.
     */
    readonly post: operations['botsRotateSecret'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/bots/{bot_id}/keys': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the valid API keys of the bot, newest first
     * @description Answers what the keys are called and allow, until when, and when they were last used; never the keys themselves. A deleted or expired key is not listed. A bot has at most five.
     */
    readonly get: operations['apiKeysList'];
    readonly put?: never;
    /**
     * Make a further API key, with all scopes or some of them
     * @description Answers a new key, which is shown only here. A key grants no scope that it lacks: else the answer is 403 `insufficient_scope`. All keys of a bot share one rate limit. A repeat makes another key, until the sixth is refused with 409 `limit_reached`.
     */
    readonly post: operations['apiKeysCreate'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/bots/{bot_id}/keys/rotate': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Replace the API key of this call
     * @description Answers a new key with the name, the scopes and the expiry of the key that this call is made with; it is shown only here. The old one is void at `overlap_until`, or with `overlap_seconds` 0 when this is answered. A key is rotated once: a repeat with the old key is refused with 409 `rotation_in_progress`.
     */
    readonly post: operations['apiKeysRotate'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/bots/{bot_id}/keys/{key_id}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    readonly post?: never;
    /**
     * Void an API key
     * @description The key is 401 in every process when this is answered. The last key of scope `admin` without `expires_at` is refused with 409 `last_admin_key`, so that the bot does not lock itself out. A repeat is answered with 404.
     */
    readonly delete: operations['apiKeysDelete'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/bots/{bot_id}/notice-settings': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read what the privacy notice says about the bot
     * @description Answers what the bot has set of its controller, its data protection officer, recipients and the other facts of GDPR Art. 13, with the latest changes. What is not set is not in the answer. `countries` has the names of the countries of the recipients, `page_url` the address of the public notice, and `data_after_withdrawal` the days after which a withdrawal erases.
     */
    readonly get: operations['noticeSettingsView'];
    /**
     * Set what the privacy notice says about the bot; null clears
     * @description Changes the settings that the body names and leaves the others as they are. They are shown to users on the privacy page and in the copy to read, in the record of processing activities, and with `public` to everybody on the page `/notice/{bot_id}`. A repeat has the same result.
     */
    readonly put: operations['noticeSettingsChange'];
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/servers/register': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Register a server
     * @description Registers a guild under its platform id. A repeat changes the name if one is given, answers 201 as well, and cancels a scheduled deletion of the guild that has not begun. Consents, data and the deletion of a whole guild need no registered server.
     */
    readonly post: operations['serversRegister'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/servers': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the servers
     * @description Answers one page of the registered servers, oldest first.
     */
    readonly get: operations['serversList'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/servers/{guild_id}/cancel-deletion': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Cancel the scheduled deletion of a server
     * @description Cancels a deletion that was scheduled with `grace_days`. From this answer on nothing is erased by it. Without a scheduled deletion the answer is 409 `nothing_scheduled`; once the deletion has begun it cannot be cancelled, and the answer is 409 `deletion_in_progress`.
     */
    readonly post: operations['serversCancelDeletion'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/register': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Declare a data category and its fields
     * @description Declares what the bot will store: a key, labels in German and English, and typed fields that every submit is checked against. Purpose (`description_de`, `description_en`, `descriptions`, and `description` where these are missing), `retention_days` and `legal_basis` appear in exports and in the record of processing activities (GDPR Art. 30). A key that is registered already is refused with 409 `category_exists`; where values need a consent beside another `legal_basis`, `warnings` says so; with `requires_consent: false`, another `legal_basis` than consent and a reason in German and English the category is stored without a consent, which users read on their page and in the notice. In the shape with `bot_id` several categories are declared at once, all of them or none.
     */
    readonly post: operations['categoriesRegister'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/categories': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the data categories
     * @description Answers one page of the declared categories with their fields, oldest first.
     */
    readonly get: operations['categoriesList'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/categories/{key}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read a data category
     * @description Answers one declared category with its fields. An unknown key is answered with 404.
     */
    readonly get: operations['categoriesView'];
    /**
     * Change a data category
     * @description Changes what the body names: labels, purpose, time limit, legal basis, and further fields. Stored values stay readable: a declared field can neither be removed nor get another type (409 `category_in_use`). `requires_consent` turns to true only while no value is stored, and to false only while none of a withdrawn consent is (409 `category_in_use`); so it is with `legal_basis` that turns to consent, or to one under which stored values would come under an objection. A repeat has the same result.
     */
    readonly put: operations['categoriesChange'];
    readonly post?: never;
    /**
     * Remove a data category and every value stored under it
     * @description Erases every value that any user has under this category, then removes the declaration. If the call is interrupted, repeat it: it continues with what is left. Once the category is removed a repeat is answered with 404.
     */
    readonly delete: operations['categoriesDelete'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/consents/request': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Ask for a user's consent
     * @description Records that the user is asked for a version of the bot's terms, or for single categories. Nothing may be stored yet: the request is `pending` until it is accepted. With `categories` the answer holds the words to show to the user. A repeat for what was already asked or accepted changes nothing and answers the state that there is.
     */
    readonly post: operations['consentRequest'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/consents/accept': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Record that the user has accepted
     * @description Turns the pending request into a consent that submits can rest on (GDPR Art. 7), in place of the one before: what rested on a category that the new one does not grant is erased at `data_erased_at`. The answer holds a signed `receipt` for the user. Name the request by user, guild and version, or by its `consent_id`. After a success there is no pending request: a repeat by its `consent_id` for the same categories (if it names none, those of the consent) is answered with the consent in force and records nothing, any other one with 404 and `details.current_status` `accepted`.
     */
    readonly post: operations['consentAccept'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/consents/decline': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Record that the user has declined
     * @description Ends the request that waits, named by user and guild, or by its `consent_id`. The answer is the state from before the request, with `declined_at`: a consent to an older version stays in force. The history keeps the refusal; no audit event is written, and asking again is possible at once. Without a waiting request, so also for a repeat, the answer is 404.
     */
    readonly post: operations['consentDecline'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/consents/revoke': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Record that the user has withdrawn the consent
     * @description Withdraws the consent, or only the `categories` that are named (GDPR Art. 7(3)). From this answer on nothing is stored under it; what rested on it is erased at `data_erased_at`, unless the user consents again before. The webhook `consent_revoked` follows once no category is left: a withdrawal of some sends none. A repeat is answered with 404 and `details.current_status` `revoked`.
     */
    readonly post: operations['consentRevoke'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/consents/status': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read a user's consent
     * @description Answers the state of the consent: `none`, `pending`, `accepted` or `revoked`. A user who was never asked is answered with 200 and `none`, and one who has declined with `declined_at`, until the next request or acceptance. `pending_version` names a newer version that waits for an answer while the older one is still in force.
     */
    readonly get: operations['consentStatus'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/consents/status/batch': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Read the consents of many users
     * @description Answers for each of 1 to 100 `items`, at its place, what `GET /consents/status` answers, all at one time. A malformed item is 400 for the whole. It changes nothing, so it needs the scope `read` and no `Idempotency-Key`. Ten items count as one request.
     */
    readonly post: operations['consentStatuses'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/consents/history': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List what a user was shown and has decided, newest first
     * @description Answers one entry for each act: asked, shown again, accepted, withdrawn. An entry names the version and the digests of the texts that were shown, so that the consent can be demonstrated (GDPR Art. 7(1)). An erasure removes the history with everything else.
     */
    readonly get: operations['consentHistory'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/consents/receipt': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Issue a signed receipt of the consent in force
     * @description Answers a signed statement of what the user has consented to, with the fields of ISO/IEC TS 27560. The signature is verified with the public keys of `/.well-known/lethe-keys.json`. While the consent is unchanged a repeat answers the same statement. Without a consent in force the answer is 404.
     */
    readonly get: operations['consentReceipt'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/consents/texts': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the registered texts, by version and language
     * @description Answers one page of the registered texts with their digests, ordered by version and language.
     */
    readonly get: operations['consentTextsList'];
    readonly put?: never;
    /**
     * Register the text of a version in one language
     * @description Stores the words that users are shown for a version, so that the history of a consent can prove them by their digest (GDPR Art. 7(1)). The same text again is answered with the same record. Other words for the same version and language are refused with 409 `text_exists`: register a new version. `texts` registers further languages with it, all or none.
     */
    readonly post: operations['consentTextsRegister'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/consents/texts/{digest}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read the words that a user was shown
     * @description Answers the text with this digest, which the history of a consent names (GDPR Art. 7(1)): a registered one, or one that the service has made of categories. The digest is that of the other fields of the answer.
     */
    readonly get: operations['consentTextsWords'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/users': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the users
     * @description Answers one page of the users about whom anything is held, one item for each user and guild, with what `GET /consents/status` answers. Erased users are left out. A page with `status`, `category` or `order=recent` looks at 500 users at most: it can have fewer items than `page_size`, or none, and `next` continues until it is null. It writes no audit event.
     */
    readonly get: operations['usersList'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/submit': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Store data of a user who has consented
     * @description Stores the values of one category of one user, encrypted with a key of that user. The consent is checked in the same transaction: without one the answer is 403 and nothing is stored. A category with `requires_consent: false` needs none; during an erasure of its user the answer is 409 `deletion_in_progress`. `data` replaces what was stored under the category; with `mode` `merge` only the named fields change (RFC 7396), and `null` removes a field. A repeat has the same result and is recorded as a further audit event.
     */
    readonly post: operations['userDataSubmit'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/submit/batch': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Store data of many users at once
     * @description Does each of 1 to 100 `items`, which are bodies of `POST /data/submit`, by itself: its result is at its place, with the error that the single request would have. Items about one user and guild take effect in their order. The answer is sent when all are durable, and is 200 also when every item is refused. Each item counts as one request; if fewer are left the answer is 429 and nothing is done. A repeat with the same `Idempotency-Key` replays what was stored or refused and does the rest, which ended with 500, 503 or without an answer; an item that would undo a later stored one is 409 `superseded`.
     */
    readonly post: operations['userDataSubmitBatch'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/values': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read one category of all users of a guild
     * @description Answers one page of what is stored under the category, in a fixed order, of the users whose consent in force covers it, but for those who have restricted it: each once. A bot that looks for today’s birthdays needs no second copy. It writes no audit event. A value that cannot be decrypted has `data` null and `unreadable` true.
     */
    readonly get: operations['userValuesOfGuild'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/values/{user_id}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read what is stored about a user
     * @description Answers the stored values by category, for the processing of the bot itself: of all categories that the consent in force covers, or of one. Without such a consent, and for what the user has restricted, the answer is 403; of all categories the restricted ones are left out. It writes no audit event; to answer a user (GDPR Art. 15) use the export.
     */
    readonly get: operations['userValuesOfUser'];
    readonly put?: never;
    readonly post?: never;
    /**
     * Erase one category of a user
     * @description Erases what is stored about the user under the category, whether the consent is in force or not, and records `data_deleted`. The consent stays: a later submit stores again. A repeat is answered with `deleted` false. To erase everything about a user (GDPR Art. 17) use `POST /gdpr/forget-user`.
     */
    readonly delete: operations['userValuesErase'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/object': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Record that the user objects to the processing
     * @description The user objects to a category whose legal basis is `legitimate_interests` or `public_task` (GDPR Art. 21): what is stored under it is erased, and submits are refused with 403 `processing_refused` and `details.reason` `objection`. Without `category` it is about all categories of these bases, also those that are declared later. For another legal basis the answer is 409 `not_objectable`. An erasure of the user removes the objection, and so does the deletion of the category that it names.
     */
    readonly post: operations['processingRefusalsObject'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/restrict': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Record that the user restricts the processing
     * @description Keeps what is stored about the user under the category, or without `category` all of it, for export and erasure (GDPR Art. 18): submits and the reading of values are refused with 403 `processing_refused` and `details.reason` `restriction`, until `POST /data/unrestrict`. The user can still correct values on the privacy page. `retention_days` and the erasure after a withdrawal still apply. A repeat is answered with what is in force.
     */
    readonly post: operations['processingRefusalsRestrict'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/unrestrict': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Record that the user ends a restriction
     * @description Ends the restriction of the category, or without `category` every restriction of the user. A restriction of everything stays in force when a category is named: the answer says what is in force. Inform the user before a restriction ends (GDPR Art. 18(3)).
     */
    readonly post: operations['processingRefusalsUnrestrict'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/refusals/{user_id}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read what a user has objected to or restricted
     * @description Answers the objections and restrictions in force about the user. It writes no audit event. Two empty lists mean that nothing is refused, whether the user is known or not.
     */
    readonly get: operations['processingRefusalsOf'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/audit/event': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Write an audit event of the bot
     * @description Appends an event of the bot's own, marked with `source` `client`, beside the events that the service writes itself. `details` are encrypted with the key of the user and become unreadable with an erasure. A repeat appends a further event.
     */
    readonly post: operations['auditWrite'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/audit/events': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List audit events, newest first
     * @description Answers one page of the log, filtered by user, guild or type if these are given. Every act that took effect has one event; a refused call has none. `details.actor` of an event of the service says who did it: `key:` and the beginning of the API key, `console`, `privacy_page` or `job`. Events of an erased user remain without the ids of the user.
     */
    readonly get: operations['auditList'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/audit/proof/{event_id}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Prove that an event is part of the sealed log
     * @description Answers the path from one event to a signed checkpoint (RFC 9162), which can be verified without the service. An event that is not sealed yet is sealed by this call. An answer of 503 says that older acts are still under way: ask again.
     */
    readonly get: operations['sealingProof'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/audit/checkpoints': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the signed checkpoints of the log, newest first
     * @description Answers one page of the checkpoints. A party that keeps a checkpoint can show later that the log was changed before it. `pruning` is a signed statement of what was removed after its retention, if anything was.
     */
    readonly get: operations['sealingCheckpoints'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/audit/export': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Export the sealed log with all that verifies it, one JSON value a line
     * @description Seals what is not sealed yet and answers the whole log as lines of JSON: a head, the events and checkpoints, and a signed end that shows whether the file was cut. An answer of 503 says that older acts are still under way: ask again. `after` continues an earlier export behind its last batch. `npx --package @lethe/sdk lethe-verify` checks the file without the service.
     */
    readonly get: operations['sealingExport'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/webhooks/deliveries': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the webhook calls of the last 30 days, newest first
     * @description Answers one page of the calls with the outcome of their last attempt. Filter by `status`, `event` or `user_id`. Calls with `exhausted`, `gone` or `cancelled` were not delivered and can be sent again.
     */
    readonly get: operations['deliveriesList'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/webhooks/deliveries/{id}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read one webhook call with its attempts
     * @description Answers one call with its body and up to 100 of its latest attempts. After the confirmation only the ids, keys and times of the body are kept.
     */
    readonly get: operations['deliveriesView'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/webhooks/deliveries/{id}/redeliver': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Send one webhook call again, with the same id
     * @description Queues the call again, whatever its outcome was. It carries the same `webhook-id`, so a receiver that remembers ids recognises it. A call that waits is sent now. Without a `webhook_url` the answer is 409 `no_webhook_url`.
     */
    readonly post: operations['deliveriesRedeliver'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/webhooks/replay': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Send every event since a time again, for instance after a backup of the bot was restored
     * @description Queues every call since a time again, oldest first, with the ids that the calls had. `undelivered_only` leaves out what the receiver has confirmed. If the call is interrupted, repeat it: with the same `Idempotency-Key` it continues; without one it begins anew, and unless `undelivered_only` is true it sends again what was confirmed meanwhile.
     */
    readonly post: operations['deliveriesReplay'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/webhooks/test': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Send a signed ping; its delivery shows the answer of the receiver
     * @description Queues a `ping` that is signed like every other call. Read the delivery with the `id` of this answer to see what the receiver answered. A repeat sends a further ping.
     */
    readonly post: operations['deliveriesTest'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/stats': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Count acts, webhook calls and erasures by hour or day
     * @description Answers for each hour or day (UTC) the number of audit events of the service, the ends of webhook calls and the durations of erasures, up to this moment. Events that the bot has posted are not counted. The numbers are kept for 400 days, also where the events are removed earlier. `under_consent` is the number of users in guilds whose consent was in force at the end of each day.
     */
    readonly get: operations['statsRead'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/privacy-links': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Make a link to the privacy page of a user
     * @description Answers a link to the privacy page: the user sees the stored data, gives and withdraws consent, corrects values of editable fields, downloads an export and erases the data. Give it to this user alone: anyone who has it sees the page. It ends at `expires_at`, with the API key that made it, with an erasure of the user, and when it is deleted. The key needs the scopes of what the page offers: `read` for `view` and `export`, `write` for `consent` and `correct`, `erase` for `forget`; without `allow` the page offers what the key may do. A user has at most ten links; an eleventh ends the oldest.
     */
    readonly post: operations['privacyLinksCreate'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/privacy-links/{id}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    readonly post?: never;
    /**
     * End a privacy link
     * @description From this answer on the link opens no page. A repeat is answered with 404. It takes the key that made the link, or one of scope `admin`.
     */
    readonly delete: operations['privacyLinksRemove'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/audit/breach-scope': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Count the users with recorded acts in the period of a breach (GDPR Art. 33)
     * @description Counts the users and guilds with a recorded act in a period, and records by category, for the notification of a breach (GDPR Art. 33(3)(a)). Reads of values and copies of the database leave no record: such a breach can concern every user about whom Lethe holds anything, also a consent alone: `records_held` counts the stored values of now, one for each user, guild and category, and not the users. The answer holds numbers only and names no user; `exact` says whether large numbers are estimates. While a report of the bot is being made a further one is refused with 409 `report_in_progress`.
     */
    readonly get: operations['reportsBreachScope'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/bots/{bot_id}/processing-record': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Record of processing activities (GDPR Art. 30), as JSON, Markdown or HTML
     * @description Answers the record that GDPR Art. 30(1) asks for, as far as the service can give it: what the bot has declared, and what this installation does with it. `format=markdown` or `format=html`, or an `Accept` header that prefers one of them, answers a document to keep or to print, which ends with what is still missing. The JSON without `language` names the bot as `controller`; with it, `notice_settings` has the controller. A repeat answers the present state.
     */
    readonly get: operations['reportsRecord'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/bots/{bot_id}/review-dossier': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Dossier for the review of the bot by its platform, as JSON, Markdown or HTML
     * @description Answers the questions of a platform before it grants privileged intents: the stored data, its retention and legal basis, the encryption, who has access, and erasure on request with the numbers of the last 90 days. Its sources are the declarations of the bot and the settings of this installation; `to_add` and `gaps` name what is missing. `format` and the `Accept` header are as in the record of processing activities. A repeat answers the present state.
     */
    readonly get: operations['reportsDossier'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/operator/status': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read the state of the installation
     * @description Answers versions, migrations, what waits, and what readiness calls degraded, with what to do. One reading of the database serves all callers for 5 seconds.
     */
    readonly get: operations['operatorState'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/operator/findings': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Look for what operators forget
     * @description Answers what `doctor` of the command line finds in the settings, the files beside the database and the database, with what to do. One reading serves all callers for a minute.
     */
    readonly get: operations['operatorFindings'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/operator/storage': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read the size of the installation over time
     * @description Answers the size of the database now, and a sample for each day, kept for 400 days.
     */
    readonly get: operations['operatorSizes'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/operator/bots': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List all bots
     * @description Answers the bots in the order of their ids, with tier, state and size. Subjects and values are counted up to 10,000: this number means as many or more.
     */
    readonly get: operations['operatorList'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/operator/bots/{id}/suspend': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Suspend a bot
     * @description Until it is resumed the bot can read, export, erase, record withdrawals, objections and restrictions, make privacy links, and answer the tasks of its holders; nothing else works, and its webhook calls wait. The answer comes when this holds in every process. A repeat changes nothing.
     */
    readonly post: operations['operatorSuspend'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/operator/bots/{id}/resume': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * End the suspension of a bot
     * @description The webhook calls that have waited are sent. A repeat changes nothing.
     */
    readonly post: operations['operatorResume'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/operator/bots/{id}/tier': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    /**
     * Give a bot a tier
     * @description The tier sets the requests per minute of the bot. It holds in every process when the answer comes. `GET /operator/status` lists the tiers. A repeat changes nothing.
     */
    readonly put: operations['operatorSetTier'];
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/operator/ledger': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Export the ledger of all erasures
     * @description Answers the file of `ledger:export` line by line, with digests in place of ids. Keep it apart from the backups: after a restore `ledger:import` reads it, so that who was erased stays erased.
     */
    readonly get: operations['operatorExported'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/gdpr/forget-user': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Erase everything stored about a user (GDPR Art. 17)
     * @description Erases all values, the consent and its history, and destroys the key that encrypted them. `completed` means that they are erased; the audit log keeps that an erasure took place, without the ids of the user. The webhook `user_forgotten` asks the bot to delete its own copies. A repeat erases what was stored since, under a new `request_id`; `scope` `all_guilds` in place of `guild_id` erases the user in every guild.
     */
    readonly post: operations['erasureForget'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/gdpr/forget-status/{id}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read an erasure request
     * @description Answers the state of an erasure: `processing`, `completed` or `failed`. An erasure that was interrupted is finished by the service without a further request. `webhook_sent` turns true once the receiver of the bot has confirmed `user_forgotten`. `coverage` has the answers of the holders of the bot, where it has any.
     */
    readonly get: operations['erasureStatus'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/servers/{guild_id}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    readonly post?: never;
    /**
     * Remove a server and erase every user of it, at once or later
     * @description Erases every user of the guild, each as an erasure of its own with its webhook, then removes the registration of the guild. With `grace_days` nothing is erased before `scheduled_for`, and the deletion can be cancelled until then. If the call is interrupted, repeat it: it continues with the users that are left. A guild that is neither registered nor has users is answered with 404.
     */
    readonly delete: operations['erasureDeleteGuild'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/gdpr/forget-status/{id}/certificate': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read the signed certificate of an erasure
     * @description Answers a signed statement that the erasure took place, which can be verified without the service (GDPR Art. 5(2)). It names the user only to those who know the ids and the `certificate_salt` of the answer to `forget-user`. A repeat answers the same text. Before the erasure is completed the answer is 409 `deletion_not_completed`.
     */
    readonly get: operations['certificateCertificate'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/data/export/{user_id}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Export everything stored about a user (GDPR Art. 15)
     * @description Answers everything that is stored about the user in one guild: consent and all values by category. `format=full` adds the history of the consent, the audit events, the purposes and the erasure requests, and asks the holders of the bot for the section `holders`; `scope=all_guilds` in place of `guild_id` answers all guilds in one document. Each export is recorded as an audit event. If nothing is stored, the answer is 404; so it is without `format=full` if nothing but an objection or a restriction is.
     */
    readonly get: operations['exportUser'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/holders': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the holders of the bot
     * @description Answers one page of the holders in the order of their keys, each with what is open for it.
     */
    readonly get: operations['holdersList'];
    readonly put?: never;
    /**
     * Register a store of the bot as a holder
     * @description Registers a store in which the bot keeps data about users itself. Every erasure that is completed after this answer makes a task for it. With a `public_key` each of its answers has to be signed. A key that is registered already is refused with 409 `holder_exists`, the 21st holder with 409 `limit_reached`, and the kind `webhook` of a bot without `webhook_url` with 409 `no_webhook_url`.
     */
    readonly post: operations['holdersRegister'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/holders/{key}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read a holder of the bot
     * @description Answers one holder with what is open for it. An unknown key is answered with 404.
     */
    readonly get: operations['holdersView'];
    /**
     * Change a holder of the bot
     * @description Changes what the body names; null clears `public_key`. What was answered before keeps the labels and the key that it was answered with. A changed `kind` is about the tasks that are made from then on. A repeat has the same result.
     */
    readonly put: operations['holdersChange'];
    readonly post?: never;
    /**
     * Delete a holder of the bot
     * @description Deletes the holder; its answers stay with their erasures. While tasks are open the answer is 409 `holder_has_open_tasks`, unless `abandon` is true: they get the result `abandoned`, which the erasures show. Without it, tasks of erasures that are completed after the deletion has begun to remove something get it, too. If the call is interrupted, it may have removed a part: repeat it with `abandon=true`. Once the holder is deleted a repeat is answered with 404.
     */
    readonly delete: operations['holdersDelete'];
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/holders/{key}/tasks': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the tasks of a holder
     * @description Answers one page of the open tasks, oldest first, each with the ids of a user to erase in the store (`act` is erase). Behind them those with the `act` export follow, which ask what the store has about the user. A task stays in the list until it has a final answer, so that a store that was away misses none. With `since` the erasures that were answered at or after that time follow: after the store was restored from a backup of that time, they have to be carried out again.
     */
    readonly get: operations['holderTasksList'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/holders/{key}/tasks/{task_id}/acknowledge': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    /**
     * Answer a task of a holder
     * @description Records what the store has done: `erased`, `nothing`, `kept` with its legal basis (GDPR Art. 17(3)), or `failed`, which leaves the task open. The same final answer again changes nothing; another one is refused with 409 `task_answered`, except that `erased`, `nothing`, or `kept` until a later time can follow `kept`. A holder with a `public_key` signs `statement`: a compact JWS with the header `{"alg":"EdDSA","typ":"lethe-holder-answer+jwt"}` over `bot_id`, `holder`, `task_id`, `result`, `counts`, `kept` and `at`. A task with the `act` export takes `exported` with `data`, `nothing` or `failed`, and is 404 after an erasure of the user; with data its statement has `data_digest` too: the SHA-256, in base64url, of the data as compact JSON.
     */
    readonly post: operations['holderTasksAcknowledge'];
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/api/v1/gdpr/forget-status/{id}/final-certificate': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Read the signed final certificate of an erasure
     * @description Answers a signed statement about the erasure in Lethe and in every holder of the bot, once each has answered `erased`, `nothing` or `kept` (GDPR Art. 5(2) and 19). It contains the certificate of the erasure and each answer. The signature of Lethe proves that the answers were received; the `statement` of a holder with a `public_key` is signed by the holder itself. It is signed at each call, since `erased` can follow `kept`; the one with the latest `issued_at` has priority.
     */
    readonly get: operations['finalCertificateRead'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    readonly patch?: never;
    readonly trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    readonly BotRegisteredView: {
      /** Format: uuid */
      readonly id: string;
      readonly platform_bot_id: string;
      readonly name: string;
      /** @description Shown only here; keep it secret */
      readonly api_key: string;
      readonly api_key_prefix: string;
      /** @description Shown only here; verifies the signatures of webhook calls */
      readonly webhook_secret: string;
      readonly notice: string;
    };
    readonly NoticeRecipient: {
      readonly name: string;
      /** @description What the recipient does with the data, in German */
      readonly purpose_de?: string | null;
      /** @description What the recipient does with the data, in English */
      readonly purpose_en?: string | null;
      /** @description Where it is; a country outside of the European Economic Area makes it a transfer */
      readonly country?: string | null;
      /** @description What protects a transfer (Art. 44 to 49), in German */
      readonly safeguards_de?: string | null;
      /** @description What protects a transfer (Art. 44 to 49), in English */
      readonly safeguards_en?: string | null;
    };
    readonly ChangeNoticeSettings: {
      /** @description true: the page `/notice/{bot_id}` shows the notice to everybody. It needs `controller_name` */
      readonly public?: boolean | null;
      /** @description Who is responsible: a person or an organisation (Art. 13(1)(a)) */
      readonly controller_name?: string | null;
      /** @description Its postal address */
      readonly controller_address?: string | null;
      /**
       * Format: email
       * @description Its e-mail address, where it is not `privacy_contact` of the bot
       */
      readonly controller_email?: string | null;
      /** @description The data protection officer (Art. 13(1)(b)) */
      readonly officer_name?: string | null;
      /** Format: email */
      readonly officer_email?: string | null;
      /** @description Replaces the whole list (Art. 13(1)(e), (f)) */
      readonly recipients?: readonly components['schemas']['NoticeRecipient'][] | null;
      /** @description The legitimate interests that are pursued (Art. 13(1)(d)), in German */
      readonly interests_de?: string | null;
      /** @description The same in English */
      readonly interests_en?: string | null;
      /** @description Where data comes from that users do not give (Art. 14(2)(f)), in German */
      readonly source_de?: string | null;
      /** @description The same in English */
      readonly source_en?: string | null;
      /**
       * @description Automated decisions (Art. 22, 13(2)(f)); `exist` needs a text that explains them
       * @enum {string|null}
       */
      readonly automated_decisions?: 'none' | 'exist' | null;
      /** @description What is decided, by which logic and with which effect, in German */
      readonly automated_decisions_de?: string | null;
      /** @description The same in English */
      readonly automated_decisions_en?: string | null;
      /** @description The supervisory authority (Art. 13(2)(d)) */
      readonly authority_name?: string | null;
      /** Format: uri */
      readonly authority_url?: string | null;
      /**
       * Format: uri
       * @description The bot's own privacy policy
       */
      readonly notice_url?: string | null;
    };
    readonly RegisterBot: {
      /** @description The id that the platform gave the bot */
      readonly platform_bot_id: string;
      readonly name: string;
      /** Format: email */
      readonly privacy_contact?: string | null;
      /**
       * Format: uri
       * @description Target of the webhook calls
       */
      readonly webhook_url?: string | null;
      /** @description What the privacy notice says about the bot, as in `PUT /bots/{bot_id}/notice-settings`. A text is ignored */
      readonly notice?: components['schemas']['ChangeNoticeSettings'] | null;
    };
    readonly WebhookHealthView: {
      /**
       * @description `unused` until the first call to this `webhook_url` has ended
       * @enum {string}
       */
      readonly status: 'unused' | 'healthy' | 'failing';
      /** @description Calls that wait for their first or next attempt, counted up to 10000 */
      readonly pending: number;
      /** @description Calls that were given up, counted up to 10000; they can be sent again. A `ping` is none of them */
      readonly undelivered: number;
      /** @description Failed attempts since the last confirmed one */
      readonly consecutive_failures: number;
      /** @description Outcome of the last attempt */
      readonly last_outcome: string | null;
      /** Format: date-time */
      readonly last_delivered_at: string | null;
      /** Format: date-time */
      readonly last_failed_at: string | null;
    };
    readonly BotView: {
      /** Format: uuid */
      readonly id: string;
      readonly platform_bot_id: string;
      readonly name: string;
      /** Format: email */
      readonly privacy_contact: string | null;
      /** Format: uri */
      readonly webhook_url: string | null;
      /** @description null without a webhook_url */
      readonly webhook_health: components['schemas']['WebhookHealthView'] | null;
      /** @description The beginning of the key of this call */
      readonly api_key_prefix: string;
      /** Format: date-time */
      readonly created_at: string;
      /** Format: date-time */
      readonly updated_at: string;
      /**
       * Format: date-time
       * @description Since when the operator has suspended the bot; else left out
       */
      readonly suspended_at?: string;
    };
    readonly ChangeBot: {
      readonly name?: string;
      /**
       * Format: email
       * @description null removes it
       */
      readonly privacy_contact?: string | null;
      /**
       * Format: uri
       * @description null removes it
       */
      readonly webhook_url?: string | null;
    };
    readonly WebhookSecretView: {
      /** @description The new secret; shown only here */
      readonly webhook_secret: string;
      /**
       * Format: date-time
       * @description From then on calls are signed with the new secret alone
       */
      readonly overlap_until: string;
    };
    readonly RotateWebhookSecret: {
      /** @description How long calls are signed with both secrets; default 86400; 0 ends the old secret at once */
      readonly overlap_seconds?: number;
    };
    readonly BotDeletedView: {
      /** Format: uuid */
      readonly id: string;
      readonly deleted: boolean;
      /** Format: date-time */
      readonly deleted_at: string;
    };
    readonly ApiKeyView: {
      /** Format: uuid */
      readonly id: string;
      /** @description Only of a key that was given one */
      readonly name?: string;
      readonly api_key_prefix: string;
      readonly scopes: readonly ('read' | 'write' | 'erase' | 'admin')[];
      /**
       * Format: date-time
       * @description null for a key that lasts
       */
      readonly expires_at: string | null;
      /**
       * Format: date-time
       * @description Exact to about two minutes; null for a key that was never used
       */
      readonly last_used_at: string | null;
      /** Format: date-time */
      readonly created_at: string;
    };
    readonly Pagination: {
      /** @description null for a page that `after` asked for */
      readonly page: number | null;
      readonly page_size: number;
      /** @description Of the whole list; a walk by `after` counts once, where it begins */
      readonly total_count: number;
      readonly total_pages: number;
      /** @description `after` of the next page; null on the last one */
      readonly next: string | null;
    };
    readonly ApiKeysView: {
      readonly keys: readonly components['schemas']['ApiKeyView'][];
      readonly pagination: components['schemas']['Pagination'];
    };
    readonly ApiKeyCreatedView: {
      /** Format: uuid */
      readonly id: string;
      /** @description Only of a key that was given one */
      readonly name?: string;
      /** @description Shown only here; keep it secret */
      readonly api_key: string;
      readonly api_key_prefix: string;
      readonly scopes: readonly ('read' | 'write' | 'erase' | 'admin')[];
      /**
       * Format: date-time
       * @description null for a key that lasts
       */
      readonly expires_at: string | null;
      /** Format: date-time */
      readonly created_at: string;
    };
    readonly NewApiKey: {
      /** @description What the key is for or whose it is, shown in the list of keys */
      readonly name?: string;
      /** @description What the key allows; default all. The key of this call must have each of them */
      readonly scopes?: readonly ('read' | 'write' | 'erase' | 'admin')[];
      /**
       * Format: date-time
       * @description A time in the future, from which on the key is void; without it the key lasts
       */
      readonly expires_at?: string;
    };
    readonly ApiKeyRotatedView: {
      /** Format: uuid */
      readonly id: string;
      /** @description Only of a key that was given one */
      readonly name?: string;
      /** @description Shown only here; keep it secret */
      readonly api_key: string;
      readonly api_key_prefix: string;
      readonly scopes: readonly ('read' | 'write' | 'erase' | 'admin')[];
      /**
       * Format: date-time
       * @description null for a key that lasts
       */
      readonly expires_at: string | null;
      /** Format: date-time */
      readonly created_at: string;
      /**
       * Format: date-time
       * @description From then on the old key is void
       */
      readonly overlap_until: string;
    };
    readonly RotateApiKey: {
      /** @description How long both keys are valid; default 86400; 0 voids the old key at once */
      readonly overlap_seconds?: number;
    };
    readonly ApiKeyDeletedView: {
      /** Format: uuid */
      readonly id: string;
      /** @enum {boolean} */
      readonly deleted: true;
      /** Format: date-time */
      readonly deleted_at: string;
    };
    readonly NoticeChange: {
      /** Format: date-time */
      readonly at: string;
      /** @description The names of the changed settings */
      readonly fields: readonly string[];
    };
    readonly NoticeCountry: {
      readonly country: string;
      /** @description Its name in German */
      readonly name_de: string;
      /** @description Its name in English */
      readonly name_en: string;
      /** @description Whether data sent there leaves the European Economic Area (Art. 44) */
      readonly third_country: boolean;
    };
    readonly NoticeSettingsView: {
      /** @description true: the page `/notice/{bot_id}` shows the notice to everybody. It needs `controller_name` */
      readonly public?: boolean | null;
      /** @description Who is responsible: a person or an organisation (Art. 13(1)(a)) */
      readonly controller_name?: string | null;
      /** @description Its postal address */
      readonly controller_address?: string | null;
      /**
       * Format: email
       * @description Its e-mail address, where it is not `privacy_contact` of the bot
       */
      readonly controller_email?: string | null;
      /** @description The data protection officer (Art. 13(1)(b)) */
      readonly officer_name?: string | null;
      /** Format: email */
      readonly officer_email?: string | null;
      /** @description Replaces the whole list (Art. 13(1)(e), (f)) */
      readonly recipients?: readonly components['schemas']['NoticeRecipient'][] | null;
      /** @description The legitimate interests that are pursued (Art. 13(1)(d)), in German */
      readonly interests_de?: string | null;
      /** @description The same in English */
      readonly interests_en?: string | null;
      /** @description Where data comes from that users do not give (Art. 14(2)(f)), in German */
      readonly source_de?: string | null;
      /** @description The same in English */
      readonly source_en?: string | null;
      /**
       * @description Automated decisions (Art. 22, 13(2)(f)); `exist` needs a text that explains them
       * @enum {string|null}
       */
      readonly automated_decisions?: 'none' | 'exist' | null;
      /** @description What is decided, by which logic and with which effect, in German */
      readonly automated_decisions_de?: string | null;
      /** @description The same in English */
      readonly automated_decisions_en?: string | null;
      /** @description The supervisory authority (Art. 13(2)(d)) */
      readonly authority_name?: string | null;
      /** Format: uri */
      readonly authority_url?: string | null;
      /**
       * Format: uri
       * @description The bot's own privacy policy
       */
      readonly notice_url?: string | null;
      /**
       * Format: date-time
       * @description Of the settings, the removal of a category, or a new name or shown contact of the bot; null: nothing was set yet
       */
      readonly updated_at: string | null;
      /** @description The latest 20 changes, newest first */
      readonly changes: readonly components['schemas']['NoticeChange'][];
      /** @description Read only: the countries of the recipients, each once; left out where none is set */
      readonly countries?: readonly components['schemas']['NoticeCountry'][];
      /**
       * Format: uri
       * @description Read only: where everybody reads the notice, while it is public and `PUBLIC_URL` is set
       */
      readonly page_url?: string;
      /** @description Read only: `REVOKED_DATA_GRACE_DAYS`, after which the data is erased that rested on a withdrawn consent; null: never */
      readonly data_after_withdrawal: number | null;
    };
    readonly ServerView: {
      /** Format: uuid */
      readonly id: string;
      readonly guild_id: string;
      readonly name: string | null;
      /** Format: date-time */
      readonly created_at: string;
      /**
       * Format: date-time
       * @description When all users of the guild will be erased; null while no deletion is scheduled
       */
      readonly deletion_scheduled_for: string | null;
      /** @description true where the stored id and name are damaged: a list shows 20 zeros as the id. A registration of the guild mends it */
      readonly unreadable?: boolean;
    };
    readonly RegisterServer: {
      readonly guild_id: string;
      readonly name?: string;
    };
    readonly ServersView: {
      readonly servers: readonly components['schemas']['ServerView'][];
      readonly pagination: components['schemas']['Pagination'];
    };
    readonly DataFieldInput: {
      readonly key: string;
      /** @enum {string} */
      readonly type: 'string' | 'number' | 'boolean' | 'date' | 'json';
      readonly label_de: string;
      readonly label_en: string;
      /** @description Labels in further languages, by language tag (BCP 47) */
      readonly labels?: {
        readonly [key: string]: string;
      };
      readonly description?: string | null;
      readonly description_de?: string;
      readonly description_en?: string;
      /** @description Purpose in further languages, by language tag (BCP 47) */
      readonly descriptions?: {
        readonly [key: string]: string;
      };
      /** @description Users may correct the value on their privacy page (GDPR Art. 16). Default: false; answers name it where it is true. Not for json */
      readonly editable?: boolean;
    };
    readonly CategoryView: {
      /** Format: uuid */
      readonly id: string;
      readonly key: string;
      readonly label_de: string;
      readonly label_en: string;
      /** @description Labels in further languages, by language tag (BCP 47) */
      readonly labels?: {
        readonly [key: string]: string;
      };
      readonly description: string | null;
      readonly description_de?: string;
      readonly description_en?: string;
      /** @description Purpose in further languages, by language tag (BCP 47) */
      readonly descriptions?: {
        readonly [key: string]: string;
      };
      readonly retention_days: number | null;
      /** @enum {string} */
      readonly legal_basis:
        | 'consent'
        | 'contract'
        | 'legal_obligation'
        | 'vital_interests'
        | 'public_task'
        | 'legitimate_interests';
      /** @description Whether storing needs the consent of the user. False only with another legal_basis than consent, `reason_de` and `reason_en`; answers name it where it is false. Default: true */
      readonly requires_consent?: boolean;
      /** @description Why no consent is needed, in German: users read it on their privacy page. Required with requires_consent: false */
      readonly reason_de?: string;
      /** @description Why no consent is needed, in English: users read it on their privacy page. Required with requires_consent: false */
      readonly reason_en?: string;
      readonly fields: readonly components['schemas']['DataFieldInput'][];
      /** Format: date-time */
      readonly created_at: string;
      /**
       * Format: date-time
       * @description When its deletion began. The answer has it while that is not complete: no request for consent and no acceptance can name the category, and a repeat of the deletion ends it
       */
      readonly deleting_at?: string;
      /** @description In the answer to a registration: what the declaration does that its bot may not mean. Left out where there is nothing */
      readonly warnings?: readonly string[];
    };
    readonly RegisteredCategoriesView: {
      readonly categories: readonly components['schemas']['CategoryView'][];
    };
    readonly RegisterCategory: {
      /** @description Labels in further languages, by language tag (BCP 47) */
      readonly labels?: {
        readonly [key: string]: string;
      } | null;
      readonly description?: string | null;
      readonly description_de?: string | null;
      readonly description_en?: string | null;
      /** @description Purpose in further languages, by language tag (BCP 47) */
      readonly descriptions?: {
        readonly [key: string]: string;
      } | null;
      readonly retention_days?: number | null;
      /**
       * @description Default: consent
       * @enum {string}
       */
      readonly legal_basis?:
        | 'consent'
        | 'contract'
        | 'legal_obligation'
        | 'vital_interests'
        | 'public_task'
        | 'legitimate_interests';
      /** @description Whether storing needs the consent of the user. False only with another legal_basis than consent, `reason_de` and `reason_en`; answers name it where it is false. Default: true */
      readonly requires_consent?: boolean;
      /** @description Why no consent is needed, in German: users read it on their privacy page. Required with requires_consent: false */
      readonly reason_de?: string | null;
      /** @description Why no consent is needed, in English: users read it on their privacy page. Required with requires_consent: false */
      readonly reason_en?: string | null;
      readonly key: string;
      readonly label_de: string;
      readonly label_en: string;
      readonly fields: readonly components['schemas']['DataFieldInput'][];
    };
    readonly GuideCategory: {
      /** @description Labels in further languages, by language tag (BCP 47) */
      readonly labels?: {
        readonly [key: string]: string;
      } | null;
      readonly description?: string | null;
      readonly description_de?: string | null;
      readonly description_en?: string | null;
      /** @description Purpose in further languages, by language tag (BCP 47) */
      readonly descriptions?: {
        readonly [key: string]: string;
      } | null;
      readonly retention_days?: number | null;
      /**
       * @description Default: consent
       * @enum {string}
       */
      readonly legal_basis?:
        | 'consent'
        | 'contract'
        | 'legal_obligation'
        | 'vital_interests'
        | 'public_task'
        | 'legitimate_interests';
      /** @description Whether storing needs the consent of the user. False only with another legal_basis than consent, `reason_de` and `reason_en`; answers name it where it is false. Default: true */
      readonly requires_consent?: boolean;
      /** @description Why no consent is needed, in German: users read it on their privacy page. Required with requires_consent: false */
      readonly reason_de?: string | null;
      /** @description Why no consent is needed, in English: users read it on their privacy page. Required with requires_consent: false */
      readonly reason_en?: string | null;
      readonly name: string;
    };
    readonly RegisterGuideCategories: {
      /** @description The id of the bot at its platform, or its `id` here */
      readonly bot_id: string;
      readonly categories: readonly components['schemas']['GuideCategory'][];
    };
    readonly CategoriesView: {
      readonly categories: readonly components['schemas']['CategoryView'][];
      readonly pagination: components['schemas']['Pagination'];
    };
    readonly ChangeCategory: {
      /** @description Labels in further languages, by language tag (BCP 47) */
      readonly labels?: {
        readonly [key: string]: string;
      } | null;
      readonly description?: string | null;
      readonly description_de?: string | null;
      readonly description_en?: string | null;
      /** @description Purpose in further languages, by language tag (BCP 47) */
      readonly descriptions?: {
        readonly [key: string]: string;
      } | null;
      readonly retention_days?: number | null;
      /**
       * @description Default: consent
       * @enum {string}
       */
      readonly legal_basis?:
        | 'consent'
        | 'contract'
        | 'legal_obligation'
        | 'vital_interests'
        | 'public_task'
        | 'legitimate_interests';
      /** @description Whether storing needs the consent of the user. False only with another legal_basis than consent, `reason_de` and `reason_en`; answers name it where it is false. Default: true */
      readonly requires_consent?: boolean;
      /** @description Why no consent is needed, in German: users read it on their privacy page. Required with requires_consent: false */
      readonly reason_de?: string | null;
      /** @description Why no consent is needed, in English: users read it on their privacy page. Required with requires_consent: false */
      readonly reason_en?: string | null;
      readonly label_de?: string;
      readonly label_en?: string;
      /** @description The declared fields and new ones. What is not mentioned of a declared field stays as it is */
      readonly fields?: readonly components['schemas']['DataFieldInput'][];
    };
    readonly CategoryDeletedView: {
      readonly key: string;
      /** @enum {boolean} */
      readonly deleted: true;
    };
    readonly CategoryText: {
      readonly key: string;
      readonly label: string;
      readonly text: string;
    };
    readonly ConsentTextsView: {
      readonly title: string;
      readonly body: string;
      readonly categories: readonly components['schemas']['CategoryText'][];
      readonly accept_label?: string;
      readonly decline_label?: string;
    };
    readonly ConsentRequestedView: {
      /** Format: uuid */
      readonly id: string;
      /** @enum {string} */
      readonly status: 'none' | 'pending' | 'accepted' | 'revoked';
      readonly version: string;
      /** Format: date-time */
      readonly requested_at: string;
      /**
       * Format: uuid
       * @description The same id, if the request named categories
       */
      readonly consent_id?: string;
      readonly categories?: readonly string[];
      /** @description The texts to show to the user */
      readonly texts?: components['schemas']['ConsentTextsView'];
    };
    readonly RequestConsent: {
      readonly user_id: string;
      readonly guild_id: string;
      /** @description Default: a digest of the declarations of the categories */
      readonly consent_version?: string;
      /** @description Keys of the categories asked for; default all */
      readonly categories?: readonly string[];
      /** @description Language of the request. Without one the request is about all texts of the version; with categories one text is answered, `en` if there is one */
      readonly language?: string;
      /** @description Where the user was asked or decided, never who it was; default `api` */
      readonly source?: string;
    };
    readonly CategoryConsentView: {
      readonly key: string;
      /** @enum {string} */
      readonly status: 'none' | 'pending' | 'accepted' | 'revoked';
      /**
       * Format: date-time
       * @description When what is stored under it will be erased, after a withdrawal
       */
      readonly data_erased_at?: string;
    };
    readonly AcceptedConsentView: {
      /** Format: uuid */
      readonly id: string;
      /** @enum {string} */
      readonly status: 'none' | 'pending' | 'accepted' | 'revoked';
      readonly version: string;
      readonly user_id: string;
      readonly guild_id: string;
      /** Format: date-time */
      readonly requested_at: string;
      /** Format: date-time */
      readonly accepted_at: string | null;
      /** Format: date-time */
      readonly revoked_at: string | null;
      /**
       * Format: date-time
       * @description When the last data stored under the withdrawn consent will be erased, unless the user consents again before
       */
      readonly data_erased_at?: string;
      readonly categories?: readonly components['schemas']['CategoryConsentView'][];
      /** @description A signed receipt for the user: a compact JWS (EdDSA) with the fields of ISO/IEC TS 27560. The service does not keep it. Left out when it cannot be signed at present */
      readonly receipt?: string;
    };
    readonly AcceptConsent: {
      readonly user_id?: string;
      readonly guild_id?: string;
      readonly consent_version?: string;
      /**
       * Format: uuid
       * @description Id of the request, instead of the three fields above
       */
      readonly consent_id?: string;
      /** @description Granted categories; default all that were asked for */
      readonly categories?: readonly string[];
      /** @description Where the user was asked or decided, never who it was; default `api` */
      readonly source?: string;
    };
    readonly ConsentDeclinedView: {
      /** @enum {string} */
      readonly status: 'none' | 'pending' | 'accepted' | 'revoked';
      readonly version: string | null;
      readonly user_id: string;
      readonly guild_id: string;
      /** Format: date-time */
      readonly accepted_at: string | null;
      /** Format: date-time */
      readonly revoked_at: string | null;
      /**
       * Format: date-time
       * @description When the user last declined; null where a newer request or acceptance follows
       */
      readonly declined_at: string | null;
      /** @description A newer version that waits beside the accepted one */
      readonly pending_version?: string;
      /**
       * Format: date-time
       * @description When the last data stored under the withdrawn consent will be erased, unless the user consents again before
       */
      readonly data_erased_at?: string;
      readonly categories?: readonly components['schemas']['CategoryConsentView'][];
    };
    readonly DeclineConsent: {
      readonly user_id?: string;
      readonly guild_id?: string;
      /**
       * Format: uuid
       * @description Id of the request, instead of the two fields above
       */
      readonly consent_id?: string;
      /** @description Where the user was asked or decided, never who it was; default `api` */
      readonly source?: string;
    };
    readonly ConsentView: {
      /** Format: uuid */
      readonly id: string;
      /** @enum {string} */
      readonly status: 'none' | 'pending' | 'accepted' | 'revoked';
      readonly version: string;
      readonly user_id: string;
      readonly guild_id: string;
      /** Format: date-time */
      readonly requested_at: string;
      /** Format: date-time */
      readonly accepted_at: string | null;
      /** Format: date-time */
      readonly revoked_at: string | null;
      /**
       * Format: date-time
       * @description When the last data stored under the withdrawn consent will be erased, unless the user consents again before
       */
      readonly data_erased_at?: string;
      readonly categories?: readonly components['schemas']['CategoryConsentView'][];
    };
    readonly RevokeConsent: {
      readonly user_id: string;
      readonly guild_id: string;
      /** @description Withdrawn categories; default all */
      readonly categories?: readonly string[];
      /** @description Where the user was asked or decided, never who it was; default `api` */
      readonly source?: string;
    };
    readonly ConsentStatusView: {
      /** @enum {string} */
      readonly status: 'none' | 'pending' | 'accepted' | 'revoked';
      readonly version: string | null;
      readonly user_id: string;
      readonly guild_id: string;
      /** Format: date-time */
      readonly accepted_at: string | null;
      /** Format: date-time */
      readonly revoked_at: string | null;
      /**
       * Format: date-time
       * @description When the user last declined; null where a newer request or acceptance follows
       */
      readonly declined_at: string | null;
      /** @description A newer version that waits beside the accepted one */
      readonly pending_version?: string;
      /**
       * Format: date-time
       * @description When the last data stored under the withdrawn consent will be erased, unless the user consents again before
       */
      readonly data_erased_at?: string;
      readonly categories?: readonly components['schemas']['CategoryConsentView'][];
    };
    readonly StatusBatchView: {
      readonly results: readonly components['schemas']['ConsentStatusView'][];
    };
    readonly ConsentQuery: {
      readonly user_id: string;
      readonly guild_id: string;
    };
    readonly StatusBatch: {
      readonly items: readonly components['schemas']['ConsentQuery'][];
    };
    readonly ShownTextView: {
      readonly language: string;
      /** @description SHA-256 of the text that was shown */
      readonly digest: string;
    };
    readonly ConsentHistoryEntryView: {
      /** Format: uuid */
      readonly id: string;
      /**
       * Format: uuid
       * @description The request, and the consent that it became
       */
      readonly consent_id: string;
      /**
       * @description `requested`: shown to the user; `shown`: shown again with other texts; `accepted`, `declined`: decided; `revoked`, `categories_withdrawn`: withdrawn
       * @enum {string}
       */
      readonly action: 'requested' | 'shown' | 'accepted' | 'declined' | 'revoked' | 'categories_withdrawn';
      readonly version: string;
      /** @description Of this act; null means all */
      readonly categories: readonly string[] | null;
      /** @description The language of the texts that were shown, or that the request named where none is registered; null for the texts of all languages */
      readonly language: string | null;
      /** @description The texts that were shown; none where none is known */
      readonly texts: readonly components['schemas']['ShownTextView'][];
      /** @description null where none is known */
      readonly source: string | null;
      /** Format: date-time */
      readonly created_at: string;
    };
    readonly ConsentHistoryView: {
      readonly entries: readonly components['schemas']['ConsentHistoryEntryView'][];
      readonly pagination: components['schemas']['Pagination'];
    };
    readonly ConsentReceiptView: {
      /** @description A compact JWS (EdDSA); the keys are those of `/.well-known/lethe-keys.json` */
      readonly receipt: string;
      /** @description What is signed, with the fields of ISO/IEC TS 27560 */
      readonly payload: {
        readonly [key: string]: unknown;
      };
    };
    readonly ConsentTextView: {
      readonly title: string;
      readonly body: string;
      readonly accept_label?: string;
      readonly decline_label?: string;
      /**
       * Format: uri
       * @description Address of the full privacy notice
       */
      readonly privacy_notice?: string;
      /** @description Whose law applies */
      readonly jurisdiction?: string;
      /** @description Where the data is stored */
      readonly storage_locations?: readonly string[];
      /** @description Who else receives the data */
      readonly recipient_third_parties?: readonly string[];
      /** @description How the user withdraws the consent */
      readonly withdrawal_method?: string;
      readonly consent_version: string;
      readonly language: string;
      readonly digest: string;
      readonly categories: readonly components['schemas']['CategoryText'][];
      /** Format: date-time */
      readonly created_at: string;
      /** @description Of a registration in several languages: the others, by language tag */
      readonly texts?: {
        readonly [key: string]: components['schemas']['ConsentTextView'];
      };
    };
    readonly FurtherConsentText: {
      readonly title: string;
      readonly body: string;
      readonly accept_label?: string;
      readonly decline_label?: string;
      /**
       * Format: uri
       * @description Address of the full privacy notice
       */
      readonly privacy_notice?: string;
      /** @description Whose law applies */
      readonly jurisdiction?: string;
      /** @description Where the data is stored */
      readonly storage_locations?: readonly string[];
      /** @description Who else receives the data */
      readonly recipient_third_parties?: readonly string[];
      /** @description How the user withdraws the consent */
      readonly withdrawal_method?: string;
      readonly categories?: readonly components['schemas']['CategoryText'][];
    };
    readonly RegisterConsentText: {
      readonly title: string;
      readonly body: string;
      readonly accept_label?: string;
      readonly decline_label?: string;
      /**
       * Format: uri
       * @description Address of the full privacy notice
       */
      readonly privacy_notice?: string;
      /** @description Whose law applies */
      readonly jurisdiction?: string;
      /** @description Where the data is stored */
      readonly storage_locations?: readonly string[];
      /** @description Who else receives the data */
      readonly recipient_third_parties?: readonly string[];
      /** @description How the user withdraws the consent */
      readonly withdrawal_method?: string;
      readonly categories?: readonly components['schemas']['CategoryText'][];
      readonly consent_version: string;
      readonly language: string;
      /** @description The text in further languages, by language tag */
      readonly texts?: {
        readonly [key: string]: components['schemas']['FurtherConsentText'];
      };
    };
    readonly ConsentTextsListView: {
      readonly texts: readonly components['schemas']['ConsentTextView'][];
      readonly pagination: components['schemas']['Pagination'];
    };
    readonly ConsentWordsView: {
      readonly title: string;
      readonly body: string;
      readonly accept_label?: string;
      readonly decline_label?: string;
      /**
       * Format: uri
       * @description Address of the full privacy notice
       */
      readonly privacy_notice?: string;
      /** @description Whose law applies */
      readonly jurisdiction?: string;
      /** @description Where the data is stored */
      readonly storage_locations?: readonly string[];
      /** @description Who else receives the data */
      readonly recipient_third_parties?: readonly string[];
      /** @description How the user withdraws the consent */
      readonly withdrawal_method?: string;
      readonly digest: string;
      readonly categories: readonly components['schemas']['CategoryText'][];
    };
    readonly ListedUserView: {
      /** @enum {string} */
      readonly status: 'none' | 'pending' | 'accepted' | 'revoked';
      readonly version: string | null;
      readonly user_id: string;
      readonly guild_id: string;
      /** Format: date-time */
      readonly accepted_at: string | null;
      /** Format: date-time */
      readonly revoked_at: string | null;
      /**
       * Format: date-time
       * @description When the user last declined; null where a newer request or acceptance follows
       */
      readonly declined_at: string | null;
      /** @description A newer version that waits beside the accepted one */
      readonly pending_version?: string;
      /**
       * Format: date-time
       * @description When the last data stored under the withdrawn consent will be erased, unless the user consents again before
       */
      readonly data_erased_at?: string;
      readonly categories?: readonly components['schemas']['CategoryConsentView'][];
      /**
       * Format: date-time
       * @description When the user was last asked or has last decided; null for one who never was asked
       */
      readonly updated_at: string | null;
      /** @description true where the key of the user is lost or damaged: ids that are not known are 20 zeros */
      readonly unreadable?: boolean;
    };
    readonly WalkPagination: {
      readonly page_size: number;
      /** @description `after` of the next page; null on the last one. A page before it can have fewer rows, or none */
      readonly next: string | null;
    };
    readonly UsersView: {
      readonly users: readonly components['schemas']['ListedUserView'][];
      readonly pagination: components['schemas']['WalkPagination'];
    };
    readonly SubmittedView: {
      readonly user_id: string;
      readonly guild_id: string;
      readonly category: string;
      readonly stored: boolean;
      /** Format: date-time */
      readonly updated_at: string;
    };
    readonly SubmitData: {
      readonly user_id: string;
      readonly guild_id: string;
      /** @description Key of a registered category */
      readonly category: string;
      /** @description Values by field key; null means no value. At most 64 KiB as JSON */
      readonly data: {
        readonly [key: string]: unknown;
      };
      /**
       * @description merge: RFC 7396; default replace
       * @enum {string}
       */
      readonly mode?: 'replace' | 'merge';
    };
    readonly SubmittedBatchView: {
      readonly results: readonly (
        | {
            /** @enum {boolean} */
            readonly ok: true;
            readonly data: components['schemas']['SubmittedView'];
          }
        | {
            /** @enum {boolean} */
            readonly ok: false;
            readonly error: components['schemas']['ItemErrorView'];
          }
      )[];
    };
    readonly ItemErrorView: {
      /** @description As in an error of a single request */
      readonly code: string;
      readonly message: string;
      readonly details?: {
        readonly [key: string]: unknown;
      };
    };
    readonly SubmitBatch: {
      readonly items: readonly components['schemas']['SubmitData'][];
    };
    readonly UserValueView: {
      readonly user_id: string;
      /** @description null for a value that cannot be decrypted */
      readonly data: {
        readonly [key: string]: unknown;
      } | null;
      /** Format: date-time */
      readonly updated_at: string;
      /** @description true for a value that cannot be decrypted; left out for others */
      readonly unreadable?: boolean;
    };
    readonly GuildValuesView: {
      readonly values: readonly components['schemas']['UserValueView'][];
      readonly pagination: components['schemas']['Pagination'];
    };
    readonly ValuesView: {
      readonly user_id: string;
      readonly guild_id: string;
      /** @description What is stored, by category; empty when nothing is */
      readonly values: {
        readonly [key: string]: {
          readonly [key: string]: unknown;
        };
      };
      /** @description The time of the last submit, by category */
      readonly updated_at: {
        readonly [key: string]: string;
      };
    };
    readonly ValuesErasedView: {
      /** @description false when nothing was stored */
      readonly deleted: boolean;
    };
    readonly RefusalView: {
      /** @description null: all of them */
      readonly category: string | null;
      /** Format: date-time */
      readonly since: string;
    };
    readonly RefusalsView: {
      readonly user_id: string;
      readonly guild_id: string;
      /** @description Objections in force (GDPR Art. 21) */
      readonly objections: readonly components['schemas']['RefusalView'][];
      /** @description Restrictions in force (GDPR Art. 18) */
      readonly restrictions: readonly components['schemas']['RefusalView'][];
    };
    readonly RefuseProcessing: {
      readonly user_id: string;
      readonly guild_id: string;
      /** @description Key of a registered category; without it, all of them */
      readonly category?: string;
    };
    readonly AuditEventView: {
      /** Format: uuid */
      readonly id: string;
      readonly guild_id: string;
      readonly user_id: string;
      /** @enum {string} */
      readonly event_type:
        | 'consent_requested'
        | 'consent_accepted'
        | 'consent_revoked'
        | 'data_submitted'
        | 'data_exported'
        | 'data_deleted'
        | 'deletion_requested'
        | 'deletion_completed'
        | 'deletion_failed';
      /**
       * @description `client` for events that the bot posted
       * @enum {string}
       */
      readonly source: 'service' | 'client';
      readonly details: {
        readonly [key: string]: unknown;
      } | null;
      /** Format: date-time */
      readonly created_at: string;
      /** @description true once the user was erased: the ids are 20 zeros, unless the request has named them */
      readonly erased?: boolean;
      /** @description true where the stored details cannot be decrypted, because they or the key of their user are damaged */
      readonly unreadable?: boolean;
    };
    readonly WriteAuditEvent: {
      readonly user_id: string;
      readonly guild_id: string;
      /** @enum {string} */
      readonly event_type:
        | 'consent_requested'
        | 'consent_accepted'
        | 'consent_revoked'
        | 'data_submitted'
        | 'data_exported'
        | 'data_deleted'
        | 'deletion_requested'
        | 'deletion_completed'
        | 'deletion_failed';
      /** @description At most 8 KiB as JSON */
      readonly details?: {
        readonly [key: string]: unknown;
      } | null;
    };
    readonly AuditEventsView: {
      readonly events: readonly components['schemas']['AuditEventView'][];
      readonly pagination: components['schemas']['Pagination'];
    };
    readonly ProvenEventView: {
      readonly seq: number;
      /** Format: uuid */
      readonly id: string;
      /** @enum {string} */
      readonly event_type:
        | 'consent_requested'
        | 'consent_accepted'
        | 'consent_revoked'
        | 'data_submitted'
        | 'data_exported'
        | 'data_deleted'
        | 'deletion_requested'
        | 'deletion_completed'
        | 'deletion_failed';
      /** @enum {string} */
      readonly source: 'service' | 'client';
      /** Format: date-time */
      readonly created_at: string;
      /** @description 32 bytes in base64url */
      readonly commitment: string;
      readonly erased: boolean;
      /** @description The parts behind the commitment: each with its salt, or only its hash where it must stay secret; null once erased */
      readonly parts: {
        readonly user?: {
          readonly value?: string | null;
          readonly salt?: string;
          readonly hash?: string;
        };
        readonly guild?: {
          readonly value?: string | null;
          readonly salt?: string;
          readonly hash?: string;
        };
        readonly details?: {
          readonly value?: string | null;
          readonly salt?: string;
          readonly hash?: string;
        };
      } | null;
    };
    readonly AuditProofView: {
      /** Format: uuid */
      readonly bot_id: string;
      readonly event: components['schemas']['ProvenEventView'];
      readonly leaf_index: number;
      /** @description Hashes from the leaf up to the root (RFC 9162) */
      readonly path: readonly string[];
      /** @description Compact JWS; its key is in /.well-known/lethe-keys.json */
      readonly checkpoint: string;
    };
    readonly CheckpointView: {
      readonly number: number;
      readonly first_seq: number;
      readonly last_seq: number;
      readonly events: number;
      /** @description 32 bytes in base64url */
      readonly root: string;
      /** @description 32 bytes in base64url */
      readonly chain: string;
      /** Format: date-time */
      readonly sealed_at: string;
      /** @description Compact JWS; its key is in /.well-known/lethe-keys.json */
      readonly checkpoint: string;
    };
    readonly CheckpointsView: {
      readonly checkpoints: readonly components['schemas']['CheckpointView'][];
      /** @description Signed statement of what was pruned, if anything was */
      readonly pruning: string | null;
      readonly pagination: components['schemas']['Pagination'];
    };
    readonly AuditLineView: {
      /** @enum {string} */
      readonly type: 'log' | 'event' | 'batch' | 'end';
    };
    readonly DeliveryView: {
      /**
       * Format: uuid
       * @description The `webhook-id` of every attempt
       */
      readonly id: string;
      /** @enum {string} */
      readonly event: 'user_forgotten' | 'consent_revoked' | 'data_corrected' | 'holder_task' | 'ping';
      /** @enum {string} */
      readonly status: 'pending' | 'delivered' | 'exhausted' | 'gone' | 'cancelled';
      readonly user_id: string | null;
      readonly guild_id: string | null;
      /**
       * Format: uuid
       * @description The erasure request of a `user_forgotten`, or of a `holder_task` to erase
       */
      readonly request_id: string | null;
      readonly attempt_count: number;
      /** @description Outcome of the last attempt */
      readonly last_outcome: string | null;
      readonly last_status_code: number | null;
      /** Format: date-time */
      readonly created_at: string;
      /**
       * Format: date-time
       * @description null when no further attempt is made
       */
      readonly next_attempt_at: string | null;
      /** Format: date-time */
      readonly finished_at: string | null;
    };
    readonly DeliveriesView: {
      readonly deliveries: readonly components['schemas']['DeliveryView'][];
      readonly pagination: components['schemas']['Pagination'];
    };
    readonly AttemptView: {
      readonly number: number;
      /**
       * Format: date-time
       * @description null for an attempt whose process ended before its result
       */
      readonly started_at: string | null;
      readonly duration_ms: number | null;
      readonly outcome: string;
      readonly status_code: number | null;
    };
    readonly DeliveryDetailsView: {
      /**
       * Format: uuid
       * @description The `webhook-id` of every attempt
       */
      readonly id: string;
      /** @enum {string} */
      readonly event: 'user_forgotten' | 'consent_revoked' | 'data_corrected' | 'holder_task' | 'ping';
      /** @enum {string} */
      readonly status: 'pending' | 'delivered' | 'exhausted' | 'gone' | 'cancelled';
      readonly user_id: string | null;
      readonly guild_id: string | null;
      /**
       * Format: uuid
       * @description The erasure request of a `user_forgotten`, or of a `holder_task` to erase
       */
      readonly request_id: string | null;
      readonly attempt_count: number;
      /** @description Outcome of the last attempt */
      readonly last_outcome: string | null;
      readonly last_status_code: number | null;
      /** Format: date-time */
      readonly created_at: string;
      /**
       * Format: date-time
       * @description null when no further attempt is made
       */
      readonly next_attempt_at: string | null;
      /** Format: date-time */
      readonly finished_at: string | null;
      /** @description The body that is sent; after the confirmation only ids, keys and times: a replay sends these */
      readonly payload: {
        readonly [key: string]: unknown;
      };
      readonly attempts: readonly components['schemas']['AttemptView'][];
    };
    readonly ReplayView: {
      /** @description Deliveries that are sent again */
      readonly queued: number;
    };
    readonly Replay: {
      /**
       * Format: date-time
       * @description Events from this time on are sent again
       */
      readonly since: string;
      /** @description Leave out calls that the receiver has confirmed; default false */
      readonly undelivered_only?: boolean;
    };
    readonly WebhookCounts: {
      /** @description Deliveries that the receiver has confirmed */
      readonly delivered: number;
      /** @description Attempts without a confirmation */
      readonly failed: number;
      /** @description Deliveries that were given up, also because of 410 */
      readonly exhausted: number;
    };
    readonly ErasureTimes: {
      /** @description Half of the erasures took no longer; off by 10 % at most */
      readonly p50: number;
      /** @description 95 % of the erasures took no longer; off by 10 % at most */
      readonly p95: number;
      /** @description The longest one, exactly */
      readonly max: number;
    };
    readonly StatsBucket: {
      /**
       * Format: date-time
       * @description The first moment of the hour or day (UTC)
       */
      readonly at: string;
      /** @description For each audit event type the number of events of the service */
      readonly counts: {
        readonly consent_requested: number;
        readonly consent_accepted: number;
        readonly consent_revoked: number;
        readonly data_submitted: number;
        readonly data_exported: number;
        readonly data_deleted: number;
        readonly deletion_requested: number;
        readonly deletion_completed: number;
        readonly deletion_failed: number;
      } & {
        readonly [key: string]: number;
      };
      /** @description Without pings */
      readonly webhooks: components['schemas']['WebhookCounts'];
      /** @description Milliseconds from the request to the end of completed erasures; null without one */
      readonly erasure_ms: components['schemas']['ErasureTimes'] | null;
    };
    readonly ConsentCountView: {
      /**
       * Format: date-time
       * @description The first moment of the day (UTC)
       */
      readonly at: string;
      /** @description Users in guilds whose consent was in force: a user in two guilds is counted twice */
      readonly subjects: number;
      /**
       * Format: date-time
       * @description Of which moment the number is: the end of the day, or earlier for the present day
       */
      readonly counted_at: string;
    };
    readonly StatsView: {
      /** @description Oldest first, without those in which nothing happened */
      readonly buckets: readonly components['schemas']['StatsBucket'][];
      /** @description How many users are under consent, for each day that was counted, oldest first, with `bucket=hour` too. Counting began with the version that has this field, and skips days on which no process ran */
      readonly under_consent: readonly components['schemas']['ConsentCountView'][];
    };
    readonly PrivacyLinkView: {
      /** Format: uuid */
      readonly id: string;
      /** @description Shown only here. Anyone who has it sees the page */
      readonly url: string;
      /** Format: date-time */
      readonly expires_at: string;
    };
    readonly NewPrivacyLink: {
      readonly user_id: string;
      /** @description Required without scope, to be left out with it */
      readonly guild_id?: string;
      /**
       * @description all_guilds: one user in every guild of the bot
       * @enum {string}
       */
      readonly scope?: 'all_guilds';
      /** @description Language of the page: de or en, and en for every other. Default: that of the browser */
      readonly language?: string;
      /** @description Seconds until the link ends; default 900 */
      readonly expires_in?: number;
      /** @description What the page offers; default all that the API key may do. correct needs view */
      readonly allow?: readonly ('view' | 'consent' | 'export' | 'forget' | 'correct')[];
    };
    readonly PrivacyLinkDeletedView: {
      /** Format: uuid */
      readonly id: string;
      readonly deleted: boolean;
    };
    readonly AffectedCount: {
      /** @description Users, each counted once for each guild */
      readonly subjects: number;
      /** @description Users, each counted once */
      readonly users: number;
      /** @description Guilds of these users */
      readonly guilds: number;
    };
    readonly ActCount: {
      /** @description How often */
      readonly events: number;
      /** @description Users concerned, each counted once for each guild */
      readonly subjects: number;
    };
    readonly ActCounts: {
      /** @description Values stored or updated */
      readonly stored: components['schemas']['ActCount'];
      /** @description Exports */
      readonly exported: components['schemas']['ActCount'];
      /** @description Values emptied, or removed with their category */
      readonly deleted: components['schemas']['ActCount'];
      /** @description Users erased */
      readonly erased: components['schemas']['ActCount'];
    };
    readonly CategoryScope: {
      readonly category: string;
      readonly label_de: string;
      readonly label_en: string;
      /** @description Records stored in this category now: users, each counted once for each guild */
      readonly records_held: number;
      /** @description Records of which the last change was made in the period */
      readonly records_touched: number;
    };
    readonly BreachScopeView: {
      /** Format: date-time */
      readonly from: string;
      /** Format: date-time */
      readonly to: string;
      /** Format: date-time */
      readonly generated_at: string;
      /**
       * Format: date-time
       * @description Time of the oldest event in the log; earlier events are not counted. null: the log is empty
       */
      readonly log_begins_at: string | null;
      /** @description false: numbers of subjects, users and guilds above 50,000 are estimates, off by about 1 % */
      readonly exact: boolean;
      /** @description Users and guilds with a recorded act in the period; a read of values and a copy of the database are not recorded */
      readonly affected: components['schemas']['AffectedCount'];
      readonly acts: components['schemas']['ActCounts'];
      /** @description In all categories, and not the users: a breach by reads or by a copy of the database can concern every user about whom Lethe holds anything */
      readonly records_held: number;
      /** @description In all categories */
      readonly records_touched: number;
      readonly categories: readonly components['schemas']['CategoryScope'][];
    };
    readonly ControllerView: {
      /** Format: uuid */
      readonly bot_id: string;
      readonly platform_bot_id: string;
      readonly name: string;
      /** @description null: none was given */
      readonly privacy_contact: string | null;
    };
    readonly RecipientView: {
      readonly recipient: string;
      /** @description Host of the webhook URL */
      readonly host: string | null;
      readonly receives: string;
    };
    readonly TimeLimitView: {
      readonly applies_to: string;
      /** @description null: no limit by time */
      readonly days: number | null;
    };
    readonly RecordedSettings: {
      /** @description true: the page `/notice/{bot_id}` shows the notice to everybody. It needs `controller_name` */
      readonly public?: boolean | null;
      /** @description Who is responsible: a person or an organisation (Art. 13(1)(a)) */
      readonly controller_name?: string | null;
      /** @description Its postal address */
      readonly controller_address?: string | null;
      /**
       * Format: email
       * @description Its e-mail address, where it is not `privacy_contact` of the bot
       */
      readonly controller_email?: string | null;
      /** @description The data protection officer (Art. 13(1)(b)) */
      readonly officer_name?: string | null;
      /** Format: email */
      readonly officer_email?: string | null;
      /** @description Replaces the whole list (Art. 13(1)(e), (f)) */
      readonly recipients?: readonly components['schemas']['NoticeRecipient'][] | null;
      /** @description The legitimate interests that are pursued (Art. 13(1)(d)), in German */
      readonly interests_de?: string | null;
      /** @description The same in English */
      readonly interests_en?: string | null;
      /** @description Where data comes from that users do not give (Art. 14(2)(f)), in German */
      readonly source_de?: string | null;
      /** @description The same in English */
      readonly source_en?: string | null;
      /**
       * @description Automated decisions (Art. 22, 13(2)(f)); `exist` needs a text that explains them
       * @enum {string|null}
       */
      readonly automated_decisions?: 'none' | 'exist' | null;
      /** @description What is decided, by which logic and with which effect, in German */
      readonly automated_decisions_de?: string | null;
      /** @description The same in English */
      readonly automated_decisions_en?: string | null;
      /** @description The supervisory authority (Art. 13(2)(d)) */
      readonly authority_name?: string | null;
      /** Format: uri */
      readonly authority_url?: string | null;
      /**
       * Format: uri
       * @description The bot's own privacy policy
       */
      readonly notice_url?: string | null;
    };
    readonly FieldView: {
      readonly key: string;
      readonly type: string;
      readonly label_de: string;
      readonly label_en: string;
      /** @description Labels in further languages, by language tag (BCP 47) */
      readonly labels?: {
        readonly [key: string]: string;
      };
      readonly description: string | null;
      readonly description_de?: string;
      readonly description_en?: string;
      /** @description Purpose in further languages, by language tag (BCP 47) */
      readonly descriptions?: {
        readonly [key: string]: string;
      };
      /** @description true: users can correct it themselves */
      readonly editable?: boolean;
    };
    readonly ActivityView: {
      /** @description The key of the data category */
      readonly category: string;
      readonly label_de: string;
      readonly label_en: string;
      /** @description Labels in further languages, by language tag (BCP 47) */
      readonly labels?: {
        readonly [key: string]: string;
      };
      /** @description null: none was declared */
      readonly purpose: string | null;
      /** @description Where it was declared in German */
      readonly purpose_de?: string;
      /** @description Where it was declared in English */
      readonly purpose_en?: string;
      /** @description Purpose in further languages, by language tag (BCP 47) */
      readonly purposes?: {
        readonly [key: string]: string;
      };
      readonly legal_basis: string;
      /** @description Named where it is false: the category needs no consent */
      readonly requires_consent?: boolean;
      /** @description Why no consent is needed, in German */
      readonly reason_de?: string;
      /** @description Why no consent is needed, in English */
      readonly reason_en?: string;
      /** @description null: none was declared */
      readonly retention_days: number | null;
      /** @description Empty for a category that takes any object */
      readonly fields: readonly components['schemas']['FieldView'][];
    };
    readonly GapView: {
      /** @description What to do, in a sentence */
      readonly task: string;
      /** @description The setting of the notice, or the field of the category, that is missing */
      readonly field: string;
      /** @description The key of the category that it is about */
      readonly category?: string;
    };
    readonly ProcessingRecordView: {
      /** Format: date-time */
      readonly generated_at: string;
      /** @description Art. 30(1)(a) */
      readonly controller: components['schemas']['ControllerView'];
      /** @description Art. 30(1)(c) */
      readonly data_subjects: string;
      /** @description Art. 30(1)(d) */
      readonly recipients: readonly components['schemas']['RecipientView'][];
      /** @description Art. 30(1)(e) */
      readonly transfers: string;
      /** @description Art. 30(1)(f) */
      readonly time_limits: readonly components['schemas']['TimeLimitView'][];
      /** @description Art. 30(1)(g) */
      readonly security_measures: readonly string[];
      /**
       * @description As it was asked for
       * @enum {string}
       */
      readonly language?: 'de' | 'en';
      /** @description What the bot has said in its notice settings; with `language` */
      readonly notice_settings?: components['schemas']['RecordedSettings'];
      /** @description Art. 30(1)(b), (c): one for each data category */
      readonly activities: readonly components['schemas']['ActivityView'][];
      /** @description What is missing, at most 100; with `language` */
      readonly gaps?: readonly components['schemas']['GapView'][];
    };
    readonly DossierBot: {
      /** Format: uuid */
      readonly bot_id: string;
      readonly platform_bot_id: string;
      readonly name: string;
      /** @description null: none was given */
      readonly privacy_contact: string | null;
      /**
       * Format: date-time
       * @description When the bot was registered here
       */
      readonly registered_at: string;
    };
    readonly DossierEncryption: {
      /** @description The algorithm of all stored texts */
      readonly algorithm: string;
      /**
       * @description Where the process has the master key from: `LETHE_MASTER_KEY` (`environment`), a key file beside the data (`file`), a file of the operator (`LETHE_MASTER_KEY_FILE`), or a program of the operator (`LETHE_MASTER_KEY_COMMAND`)
       * @enum {string}
       */
      readonly master_key: 'environment' | 'file' | 'secret_file' | 'command';
      readonly statements: readonly string[];
    };
    readonly DossierDeletion: {
      /**
       * Format: date
       * @description The first day (UTC): 89 days ago, or the day of the registration
       */
      readonly from: string;
      /**
       * Format: date
       * @description Today (UTC)
       */
      readonly to: string;
      /** @description Erasures that were requested, each of one user in one guild */
      readonly requested: number;
      /** @description Erasures that were completed */
      readonly completed: number;
      /** @description Erasures that failed */
      readonly failed: number;
      /** @description Half of the completed erasures took no longer from the request to the end; off by 10 % at most; null without one */
      readonly median_ms: number | null;
      /** @description The longest one, exactly; null without one */
      readonly longest_ms: number | null;
      readonly statements: readonly string[];
    };
    readonly DossierConsent: {
      /**
       * Format: date
       * @description The first day (UTC): 89 days ago, or the day of the registration
       */
      readonly from: string;
      /**
       * Format: date
       * @description Today (UTC)
       */
      readonly to: string;
      /** @description Requests, declined ones too; a repeat that waits is counted again only where it asks anew */
      readonly requested: number;
      /** @description Acceptances, and ends of restrictions */
      readonly accepted: number;
      /** @description Withdrawals, in whole or for categories, and restrictions; a refusal is none */
      readonly revoked: number;
      readonly statements: readonly string[];
    };
    readonly DossierBackups: {
      /** @description `BACKUP_RETENTION_DAYS`; 0: none are kept */
      readonly retention_days: number;
      readonly statements: readonly string[];
    };
    readonly ReviewDossierView: {
      /** Format: date-time */
      readonly generated_at: string;
      /** @enum {string} */
      readonly language: 'de' | 'en';
      readonly bot: components['schemas']['DossierBot'];
      /** @description The address of `notice_url`, or of the public notice; null without either */
      readonly privacy_policy: string | null;
      /** @description What the bot has said in its notice settings: controller, recipients and more */
      readonly notice_settings: components['schemas']['RecordedSettings'];
      readonly data_subjects: string;
      readonly time_limits: readonly components['schemas']['TimeLimitView'][];
      readonly encryption: components['schemas']['DossierEncryption'];
      /** @description Who has access, as far as the service knows */
      readonly access: readonly components['schemas']['RecipientView'][];
      readonly deletion: components['schemas']['DossierDeletion'];
      readonly consent: components['schemas']['DossierConsent'];
      readonly security_measures: readonly string[];
      readonly backups: components['schemas']['DossierBackups'];
      /** @description Transfers to third countries, by the named recipients */
      readonly transfers: string;
      /** @description What the service cannot know and the team has to add */
      readonly to_add: readonly string[];
      /** @description One for each data category */
      readonly activities: readonly components['schemas']['ActivityView'][];
      /** @description What is missing of the declarations, at most 100 */
      readonly gaps: readonly components['schemas']['GapView'][];
    };
    readonly ConditionView: {
      /** @description As in `conditions` of `/health/ready` */
      readonly name: string;
      readonly says: string;
      /** @description What to do */
      readonly mend: string;
    };
    readonly HealthView: {
      /**
       * @description Of the process that answers, at this moment
       * @enum {string}
       */
      readonly status: 'ok' | 'degraded';
      readonly conditions: readonly components['schemas']['ConditionView'][];
    };
    readonly DatabaseView: {
      /** @enum {string} */
      readonly engine: 'sqlite' | 'postgres';
      readonly version: string;
      readonly bytes: number;
    };
    readonly MigrationsView: {
      readonly applied: number;
      /** @description Known to this version and not applied yet */
      readonly pending: readonly string[];
      /** @description Applied by another version or module */
      readonly unknown: readonly string[];
    };
    readonly TierView: {
      readonly name: string;
      readonly requests_per_minute: number;
    };
    readonly BotCountsView: {
      readonly total: number;
      readonly suspended: number;
    };
    readonly WebhookBacklogView: {
      /** @description Calls that wait; of each bot 1,000 are counted at most */
      readonly waiting: number;
      /**
       * Format: date-time
       * @description When the oldest call of a bot that is not suspended is due, or, if that is later, when the last call to its receiver was confirmed, or has failed
       */
      readonly oldest_due: string | null;
      /** @description Calls that were given up and can be sent again; of each bot 1,000 are counted at most */
      readonly exhausted: number;
      /** @description Suspended bots with waiting calls */
      readonly suspended_bots: number;
    };
    readonly ErasureBacklogView: {
      /** @description Erasures that have begun and are not completed; 10,000 are counted at most */
      readonly processing: number;
      /**
       * Format: date-time
       * @description When the oldest of them began
       */
      readonly oldest: string | null;
    };
    readonly SealingBacklogView: {
      /** @description Audit logs with events that are not sealed */
      readonly unsealed_logs: number;
      /**
       * Format: date-time
       * @description When the oldest of these events happened
       */
      readonly oldest: string | null;
    };
    readonly DrillView: {
      /**
       * Format: date-time
       * @description When it began
       */
      readonly at: string;
      /** @description Whether the backup restored, and everything in it could be used */
      readonly ok: boolean;
      /** @description The size of the restored data and keys in bytes */
      readonly bytes: number | null;
    };
    readonly BackupsView: {
      /**
       * Format: date-time
       * @description The last backup of the data on record
       */
      readonly data: string | null;
      /**
       * Format: date-time
       * @description The last backup of the keys on record
       */
      readonly keys: string | null;
      /**
       * Format: date-time
       * @description The last export of the ledger on record
       */
      readonly ledger: string | null;
      /** @description The size of that backup of the data in bytes; null in a record of an older version */
      readonly data_bytes: number | null;
      /** @description The size of that backup of the keys in bytes; null in a record of an older version */
      readonly keys_bytes: number | null;
      /** @description The last `backup:drill`; null where none is on record */
      readonly drill: components['schemas']['DrillView'] | null;
    };
    readonly StatusView: {
      readonly health: components['schemas']['HealthView'];
      readonly version: string;
      readonly node: string;
      /**
       * Format: date-time
       * @description The start of the process that answers
       */
      readonly started_at: string;
      readonly database: components['schemas']['DatabaseView'];
      readonly migrations: components['schemas']['MigrationsView'];
      /**
       * @description Where the master key is: `LETHE_MASTER_KEY` (`environment`), the key file beside the database (`file`), the file of `LETHE_MASTER_KEY_FILE`, or the output of `LETHE_MASTER_KEY_COMMAND`
       * @enum {string}
       */
      readonly master_key: 'environment' | 'file' | 'secret_file' | 'command';
      /** @description Of `RATE_LIMIT_TIERS` */
      readonly tiers: readonly components['schemas']['TierView'][];
      readonly bots: components['schemas']['BotCountsView'];
      /** @description Users in guilds about whom anything is held, of all bots; on PostgreSQL an estimate above 10,000 */
      readonly subjects: number;
      readonly webhooks: components['schemas']['WebhookBacklogView'];
      readonly erasures: components['schemas']['ErasureBacklogView'];
      readonly sealing: components['schemas']['SealingBacklogView'];
      /** @description null for PostgreSQL, whose backups Lethe does not make */
      readonly backups: components['schemas']['BackupsView'] | null;
      /**
       * Format: date-time
       * @description When this was read from the database; one reading serves all callers for 5 seconds
       */
      readonly read_at: string;
    };
    readonly FindingView: {
      readonly id: string;
      /** @enum {string} */
      readonly level: 'fault' | 'warning';
      readonly says: string;
      /** @description What to do */
      readonly mend: string;
    };
    readonly FindingsView: {
      /** @description Faults first */
      readonly findings: readonly components['schemas']['FindingView'][];
      /**
       * Format: date-time
       * @description When this was read; one reading serves all callers for a minute
       */
      readonly read_at: string;
    };
    readonly DiskView: {
      readonly bytes: number;
      readonly free_bytes: number;
    };
    readonly SampleView: {
      /**
       * Format: date-time
       * @description The first moment of the day (UTC)
       */
      readonly at: string;
      readonly bytes: number;
      readonly bots: number;
      /** @description On PostgreSQL an estimate above 10,000 */
      readonly subjects: number;
    };
    readonly StorageView: {
      /** @description The size of the database now */
      readonly bytes: number;
      /** @description Of the disks of the SQLite files the one with the least room; null for PostgreSQL */
      readonly disk: components['schemas']['DiskView'] | null;
      /** @description One for each day of the last 400 on which a process ran */
      readonly samples: readonly components['schemas']['SampleView'][];
    };
    readonly OperatedBotView: {
      /** Format: uuid */
      readonly id: string;
      readonly platform_bot_id: string;
      readonly name: string;
      /** @enum {string} */
      readonly state: 'active' | 'suspended' | 'deleting';
      /** Format: date-time */
      readonly suspended_at: string | null;
      /** @description The tier in force */
      readonly tier: string;
      /** @description The tier that the operator gave the bot; null for that of the settings */
      readonly stored_tier: string | null;
      /** @description Users in guilds about whom anything is held, counted up to 10000 */
      readonly subjects: number;
      /** @description Stored values, one for each user, guild and category, counted up to 10000 */
      readonly values: number;
      /** Format: date-time */
      readonly created_at: string;
      /**
       * Format: date-time
       * @description The last use of one of its keys, up to a minute late
       */
      readonly last_used_at: string | null;
    };
    readonly OperatedBotList: {
      readonly bots: readonly components['schemas']['OperatedBotView'][];
      readonly pagination: components['schemas']['Pagination'];
    };
    readonly SetTierDto: {
      /** @description A tier of `RATE_LIMIT_TIERS`; `default` removes the given one, so that the settings decide */
      readonly tier: string;
    };
    readonly LedgerLine: {
      /** @description A keyed hash over this line and the one before it */
      readonly mac: string;
    };
    readonly ForgottenView: {
      /** Format: uuid */
      readonly request_id: string;
      /** @enum {string} */
      readonly status: 'processing' | 'completed' | 'failed';
      /** @description Keys of the categories that held erased values */
      readonly deleted_categories: readonly string[] | null;
      /** Format: date-time */
      readonly completed_at: string | null;
      /** @description Ties the certificate to the user: a party that knows the ids verifies it with this salt. Answered only here, and to a repeat with the same `Idempotency-Key` */
      readonly certificate_salt: string;
      readonly notice: string;
    };
    readonly ForgottenInGuildView: {
      /** Format: uuid */
      readonly request_id: string;
      /** @enum {string} */
      readonly status: 'processing' | 'completed' | 'failed';
      /** @description Keys of the categories that held erased values */
      readonly deleted_categories: readonly string[] | null;
      /** Format: date-time */
      readonly completed_at: string | null;
      /** @description Ties the certificate to the user: a party that knows the ids verifies it with this salt. Answered only here, and to a repeat with the same `Idempotency-Key` */
      readonly certificate_salt: string;
      readonly notice: string;
      readonly guild_id: string;
    };
    readonly ForgottenEverywhereView: {
      readonly user_id: string;
      /** @enum {string} */
      readonly scope: 'all_guilds';
      /** @enum {string} */
      readonly status: 'completed';
      /** @description One erasure for each guild that held anything, and for a bot with holders always one of the bot-wide scope, which asks them for every guild */
      readonly requests: readonly components['schemas']['ForgottenInGuildView'][];
      readonly notice: string;
    };
    readonly ForgetUser: {
      readonly user_id: string;
      /** @description Required without scope, to be left out with it */
      readonly guild_id?: string;
      /**
       * @description all_guilds: one user in every guild of the bot
       * @enum {string}
       */
      readonly scope?: 'all_guilds';
    };
    readonly KeptView: {
      readonly basis: string;
      /** Format: date-time */
      readonly until: string;
    };
    readonly CoveredHolderView: {
      readonly key: string;
      readonly label_de: string;
      readonly label_en: string;
      /**
       * @description pending: no answer within 14 days so far; overdue: no answer since; abandoned: the holder was deleted before it answered
       * @enum {string}
       */
      readonly result: 'erased' | 'nothing' | 'kept' | 'failed' | 'abandoned' | 'pending' | 'overdue';
      /**
       * Format: date-time
       * @description Time of the latest answer
       */
      readonly at: string | null;
      readonly kept?: components['schemas']['KeptView'];
    };
    readonly CoverageView: {
      /** @description Every holder has answered erased, nothing or kept */
      readonly complete: boolean;
      /** @description In the order of their keys */
      readonly holders: readonly components['schemas']['CoveredHolderView'][];
    };
    readonly DeletionRequestView: {
      /** Format: uuid */
      readonly request_id: string;
      /** @enum {string} */
      readonly status: 'processing' | 'completed' | 'failed';
      readonly user_id: string;
      readonly guild_id: string;
      /** Format: date-time */
      readonly created_at: string;
      /** Format: date-time */
      readonly completed_at: string | null;
      /**
       * Format: date-time
       * @description From this time no table of the database contains the key in its file: on SQLite completed_at, on PostgreSQL null until the tables of the keys are rewritten
       */
      readonly unrecoverable_at: string | null;
      /** @description Keys of the categories that held erased values */
      readonly deleted_categories: readonly string[] | null;
      /** @description The receiver has confirmed user_forgotten */
      readonly webhook_sent: boolean;
      /** @description What the bot's own stores have answered; left out where the bot had no holder when this was completed */
      readonly coverage?: components['schemas']['CoverageView'];
    };
    readonly GuildErasedView: {
      readonly guild_id: string;
      readonly deleted: boolean;
      readonly erased_users: number;
      /**
       * Format: date-time
       * @description With grace_days: when all users of the guild will be erased
       */
      readonly scheduled_for?: string;
    };
    readonly CertificateView: {
      /** @description Compact JWS; the keys that verify it: /.well-known/lethe-keys.json */
      readonly certificate: string;
    };
    readonly ExportedBot: {
      /** Format: uuid */
      readonly id: string;
      readonly name: string;
    };
    readonly ExportedConsent: {
      readonly status: string;
      readonly version: string;
      /** Format: date-time */
      readonly acceptedAt: string | null;
    };
    readonly ExportView: {
      readonly userId: string;
      readonly guildId: string;
      /** Format: date-time */
      readonly exportedAt: string;
      readonly bot: components['schemas']['ExportedBot'];
      readonly consent: components['schemas']['ExportedConsent'] | null;
      readonly data: {
        readonly [key: string]: {
          readonly [key: string]: unknown;
        };
      };
    };
    readonly ExportedGuild: {
      readonly guildId: string;
      readonly consent: components['schemas']['ExportedConsent'] | null;
      readonly data: {
        readonly [key: string]: {
          readonly [key: string]: unknown;
        };
      };
    };
    readonly ExportAllGuildsView: {
      readonly userId: string;
      /** Format: date-time */
      readonly exportedAt: string;
      readonly bot: components['schemas']['ExportedBot'];
      readonly guilds: readonly components['schemas']['ExportedGuild'][];
    };
    readonly HolderView: {
      readonly key: string;
      /** @enum {string} */
      readonly kind: 'pull' | 'webhook';
      readonly covers: readonly string[];
      readonly label_de: string;
      readonly label_en: string;
      /** @description Ed25519, 32 bytes in base64url. With it each answer of the holder is signed */
      readonly public_key: string | null;
      /** @description Counted up to 1000 */
      readonly open_tasks: number;
      /**
       * Format: date-time
       * @description When the oldest open task was made
       */
      readonly oldest_open_at: string | null;
      /** Format: date-time */
      readonly created_at: string;
      /** Format: date-time */
      readonly updated_at: string;
    };
    readonly RegisterHolder: {
      readonly key: string;
      /**
       * @description pull: the holder asks for its tasks; webhook: each task is also sent to the `webhook_url` of the bot, as `holder_task`
       * @enum {string}
       */
      readonly kind: 'pull' | 'webhook';
      /** @description Names of the data in the store, for people to read */
      readonly covers: readonly string[];
      readonly label_de: string;
      readonly label_en: string;
      /** @description Ed25519, 32 bytes in base64url. With it each answer of the holder is signed */
      readonly public_key?: string | null;
    };
    readonly HoldersView: {
      readonly holders: readonly components['schemas']['HolderView'][];
      readonly pagination: components['schemas']['Pagination'];
    };
    readonly ChangeHolder: {
      /**
       * @description pull: the holder asks for its tasks; webhook: each task is also sent to the `webhook_url` of the bot, as `holder_task`
       * @enum {string}
       */
      readonly kind?: 'pull' | 'webhook';
      /** @description Names of the data in the store, for people to read */
      readonly covers?: readonly string[];
      readonly label_de?: string;
      readonly label_en?: string;
      /** @description Ed25519, 32 bytes in base64url. With it each answer of the holder is signed */
      readonly public_key?: string | null;
    };
    readonly HolderDeletedView: {
      readonly key: string;
      /** @enum {boolean} */
      readonly deleted: true;
      /** @description Open tasks that got the result abandoned */
      readonly abandoned: number;
    };
    readonly TaskView: {
      /** Format: uuid */
      readonly task_id: string;
      /** @enum {string} */
      readonly act: 'erase' | 'export';
      /**
       * Format: uuid
       * @description The erasure; for an export the task itself
       */
      readonly request_id: string;
      /** @description 00000000000000000000 where a restore has lost the ids */
      readonly user_id: string;
      readonly guild_id: string;
      /**
       * Format: date-time
       * @description When the erasure was completed, or the export was made
       */
      readonly created_at: string;
      /**
       * Format: date-time
       * @description From this time the task is overdue: 14 days after `created_at`
       */
      readonly due_at: string;
      /**
       * @description null without an answer; `failed` leaves the task open; abandoned: the holder of this key was deleted before it answered
       * @enum {string|null}
       */
      readonly result: 'erased' | 'nothing' | 'kept' | 'failed' | 'abandoned' | 'exported' | null;
      /**
       * Format: date-time
       * @description Time of the latest answer
       */
      readonly answered_at: string | null;
    };
    readonly TasksView: {
      readonly tasks: readonly components['schemas']['TaskView'][];
      readonly pagination: components['schemas']['WalkPagination'];
    };
    readonly AcknowledgeTask: {
      /**
       * @description erased; nothing: the holder had nothing; kept: something is kept on a legal basis; failed: the task stays open; exported: `data` has what the holder has. A task with the act erase takes erased, nothing, kept or failed; one with the act export takes exported, nothing or failed
       * @enum {string}
       */
      readonly result: 'erased' | 'nothing' | 'kept' | 'failed' | 'exported';
      /** @description Numbers of records that the store has erased or keeps, by names that the bot gives */
      readonly counts?: {
        readonly [key: string]: number;
      } | null;
      /** @description The legal basis on which the store keeps data (GDPR Art. 17(3)), and when that basis ends. Only with the result kept */
      readonly kept?: {
        readonly basis?: string;
        /** Format: date-time */
        readonly until?: string;
      } | null;
      /** @description What the stores have about the user, by names of stores; at most 229376 bytes as JSON. Only with the result exported */
      readonly data?: {
        readonly [key: string]: unknown;
      } | null;
      /** @description Compact JWS over the answer, signed by the holder; required where it has a `public_key` */
      readonly statement?: string | null;
    };
    readonly RegisterBotByBotId: {
      /** @description The id of the bot at its platform, or its `id` here */
      readonly bot_id: string;
      readonly name: string;
      /** Format: email */
      readonly privacy_contact?: string | null;
      /**
       * Format: uri
       * @description Target of the webhook calls
       */
      readonly webhook_url?: string | null;
      /** @description What the privacy notice says about the bot, as in `PUT /bots/{bot_id}/notice-settings`. A text is ignored */
      readonly notice?: components['schemas']['ChangeNoticeSettings'] | null;
    };
    readonly RequestConsentForBot: {
      /** @description The id of the bot at its platform, or its `id` here */
      readonly bot_id: string;
      readonly user_id: string;
      /** @description Default: a digest of the declarations of the categories */
      readonly consent_version?: string;
      /** @description Keys of the categories asked for; default all */
      readonly categories?: readonly string[];
      /** @description Language of the request. Without one the request is about all texts of the version; with categories one text is answered, `en` if there is one */
      readonly language?: string;
      /** @description Where the user was asked or decided, never who it was; default `api` */
      readonly source?: string;
    };
    readonly AcceptConsentForBot: {
      /** @description The id of the bot at its platform, or its `id` here */
      readonly bot_id: string;
      readonly user_id?: string;
      readonly consent_version?: string;
      /**
       * Format: uuid
       * @description Id of the request, instead of the three fields above
       */
      readonly consent_id?: string;
      /** @description Granted categories; default all that were asked for */
      readonly categories?: readonly string[];
      /** @description Where the user was asked or decided, never who it was; default `api` */
      readonly source?: string;
    };
    readonly DeclineConsentForBot: {
      /** @description The id of the bot at its platform, or its `id` here */
      readonly bot_id: string;
      readonly user_id?: string;
      /**
       * Format: uuid
       * @description Id of the request, instead of the two fields above
       */
      readonly consent_id?: string;
      /** @description Where the user was asked or decided, never who it was; default `api` */
      readonly source?: string;
    };
    readonly RevokeConsentForBot: {
      /** @description The id of the bot at its platform, or its `id` here */
      readonly bot_id: string;
      readonly user_id: string;
      /** @description Withdrawn categories; default all */
      readonly categories?: readonly string[];
      /** @description Where the user was asked or decided, never who it was; default `api` */
      readonly source?: string;
    };
    readonly SubmitDataForBot: {
      /** @description The id of the bot at its platform, or its `id` here */
      readonly bot_id: string;
      readonly user_id: string;
      /** @description Key of a registered category */
      readonly category: string;
      /** @description Values by field key; null means no value. At most 64 KiB as JSON */
      readonly data: {
        readonly [key: string]: unknown;
      };
      /**
       * @description merge: RFC 7396; default replace
       * @enum {string}
       */
      readonly mode?: 'replace' | 'merge';
    };
    readonly RefuseProcessingForBot: {
      /** @description The id of the bot at its platform, or its `id` here */
      readonly bot_id: string;
      readonly user_id: string;
      /** @description Key of a registered category; without it, all of them */
      readonly category?: string;
    };
    readonly Error: {
      /** @enum {boolean} */
      readonly success: false;
      readonly error: {
        /** @enum {string} */
        readonly code:
          | 'invalid_request'
          | 'unauthorized'
          | 'consent_required'
          | 'processing_refused'
          | 'suspended'
          | 'insufficient_scope'
          | 'not_found'
          | 'conflict'
          | 'payload_too_large'
          | 'unsupported_media_type'
          | 'misdirected_request'
          | 'rate_limit_exceeded'
          | 'internal_error'
          | 'service_unavailable';
        /** @description For people; may change */
        readonly message: string;
        /** @description For programs; a 400 lists every bad field in `fields`, a 409 says why in `reason` */
        readonly details?: {
          /**
           * @description Why a 403 `processing_refused` is answered: `objection` or `restriction`. Why a 409:
           *
           *     - `bot_exists`: A bot with this `platform_bot_id` is registered
           *     - `category_exists`: The bot has a category with this `key`
           *     - `category_in_use`: The change removes a declared field of the category or gives it another type, or it turns `requires_consent`, or `legal_basis` to `consent`, while values are stored that would lose their basis; or it turns `legal_basis` to one that can be objected to, while values are stored of users who have objected to everything
           *     - `deletion_in_progress`: An erasure of this user, or the deletion of this server, has begun and is not completed
           *     - `deletion_not_completed`: The erasure is not completed, and only a completed erasure has a certificate
           *     - `no_certificate`: The ledger of erasures does not contain the erasure as it is recorded, or it was not carried out on the data held now: a backup was restored since, or the record is past its retention; or the stored answer of a holder is not the one that was received
           *     - `no_holders`: The bot had no holder when the erasure was completed, so no answer of one is to be certified
           *     - `coverage_incomplete`: A holder of the bot has not answered the task of this erasure, has failed, or was deleted before it answered
           *     - `rotation_in_progress`: Two webhook secrets are valid at present, and a third would need another overlap; or this API key was rotated before
           *     - `last_admin_key`: Without this key the bot would have no key of scope `admin` that lasts
           *     - `report_in_progress`: The service is still making the breach report that this bot asked for before
           *     - `no_webhook_url`: The bot has no `webhook_url` that a call could be sent to
           *     - `text_exists`: The version has another text in this language, which users may have agreed to
           *     - `too_many_languages`: The version has texts in as many languages as a version can have
           *     - `limit_reached`: The bot has as many of these as a bot may have; `details.limit` is their number
           *     - `idempotency_key_reused`: The `Idempotency-Key` was sent with another body in the last 24 hours
           *     - `idempotency_in_progress`: A request with this `Idempotency-Key` is being answered
           *     - `idempotency_answer_erased`: What was stored for this `Idempotency-Key` was erased with the user whom it was about, the category or holder that it made was deleted, or its key is lost
           *     - `superseded`: A repeat of the batch does not do the item: the first request has stored a later item that it would undo, about the same user, guild and category
           *     - `holder_exists`: The bot has a holder with this `key`
           *     - `holder_has_open_tasks`: The holder has not answered all of its tasks, and deleting it would leave users in its store
           *     - `task_answered`: The task has another final answer, which `details.result` names
           *     - `not_objectable`: A user can object to a category of `legitimate_interests` or `public_task` (GDPR Art. 21); `details.legal_basis` names the one that this category has
           *     - `nothing_scheduled`: No deletion of this server is scheduled
           * @enum {string}
           */
          readonly reason?:
            | 'bot_exists'
            | 'category_exists'
            | 'category_in_use'
            | 'deletion_in_progress'
            | 'deletion_not_completed'
            | 'no_certificate'
            | 'no_holders'
            | 'coverage_incomplete'
            | 'rotation_in_progress'
            | 'last_admin_key'
            | 'report_in_progress'
            | 'no_webhook_url'
            | 'text_exists'
            | 'too_many_languages'
            | 'limit_reached'
            | 'idempotency_key_reused'
            | 'idempotency_in_progress'
            | 'idempotency_answer_erased'
            | 'superseded'
            | 'holder_exists'
            | 'holder_has_open_tasks'
            | 'task_answered'
            | 'not_objectable'
            | 'nothing_scheduled'
            | 'objection'
            | 'restriction';
        } & {
          readonly [key: string]: unknown;
        };
      };
    };
    readonly UserForgottenPayload: {
      /** @enum {string} */
      readonly event: 'user_forgotten';
      /** Format: uuid */
      readonly request_id: string;
      readonly user_id: string;
      readonly guild_id: string;
      /** Format: date-time */
      readonly completed_at: string;
      /** @description Only data stored through the service is affected */
      readonly notice?: string;
    };
    readonly ConsentRevokedPayload: {
      /** @enum {string} */
      readonly event: 'consent_revoked';
      readonly user_id: string;
      readonly guild_id: string;
      /** Format: date-time */
      readonly revoked_at: string;
      readonly previous_version?: string;
    };
    readonly DataCorrectedPayload: {
      /** @enum {string} */
      readonly event: 'data_corrected';
      readonly user_id: string;
      readonly guild_id: string;
      /** @description Key of the category */
      readonly category: string;
      /** @description Keys of the corrected fields; the values are read by `GET /data/values/{user_id}` */
      readonly fields: readonly string[];
      /** Format: date-time */
      readonly at: string;
    };
    readonly HolderTaskPayload: {
      /** @enum {string} */
      readonly event: 'holder_task';
      /** @description Key of the holder */
      readonly holder: string;
      /** Format: uuid */
      readonly task_id: string;
      /** @enum {string} */
      readonly act: 'erase' | 'export';
      /**
       * Format: uuid
       * @description The erasure; for an export the task itself
       */
      readonly request_id: string;
      readonly user_id: string;
      readonly guild_id: string;
      /** Format: date-time */
      readonly created_at: string;
      /**
       * Format: date-time
       * @description From this time the task is overdue
       */
      readonly due_at: string;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: {
    /** @description The id of this request in the log of the service */
    readonly 'X-Request-Id': string;
    /** @description Requests per minute */
    readonly 'X-RateLimit-Limit': number;
    /** @description Requests left in this minute */
    readonly 'X-RateLimit-Remaining': number;
    /** @description Unix time in seconds at which the minute ends */
    readonly 'X-RateLimit-Reset': number;
    /** @description Sent with an answer that repeats the one to an earlier request with the same `Idempotency-Key` */
    readonly 'Idempotent-Replayed': 'true';
    /** @description Seconds to wait */
    readonly 'Retry-After': number;
    /** @description The scheme to use */
    readonly 'WWW-Authenticate': 'Bearer';
  };
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  readonly botsRegister: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json':
          components['schemas']['RegisterBot'] | components['schemas']['RegisterBotByBotId'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['BotRegisteredView'];
          };
        };
      };
    };
  };
  readonly botsMe: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['BotView'];
          };
        };
      };
    };
  };
  readonly botsView: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly bot_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['BotView'];
          };
        };
      };
    };
  };
  readonly botsChange: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly bot_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['ChangeBot'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['BotView'];
          };
        };
      };
    };
  };
  readonly botsDelete: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly bot_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['BotDeletedView'];
          };
        };
      };
    };
  };
  readonly botsRotateSecret: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path: {
        readonly bot_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['RotateWebhookSecret'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['WebhookSecretView'];
          };
        };
      };
    };
  };
  readonly apiKeysList: {
    readonly parameters: {
      readonly query?: {
        readonly page?: number;
        readonly page_size?: number;
        /** @description `pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none */
        readonly after?: string;
      };
      readonly header?: never;
      readonly path: {
        readonly bot_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ApiKeysView'];
          };
        };
      };
    };
  };
  readonly apiKeysCreate: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path: {
        readonly bot_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['NewApiKey'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ApiKeyCreatedView'];
          };
        };
      };
    };
  };
  readonly apiKeysRotate: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path: {
        readonly bot_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['RotateApiKey'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ApiKeyRotatedView'];
          };
        };
      };
    };
  };
  readonly apiKeysDelete: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly bot_id: string;
        readonly key_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ApiKeyDeletedView'];
          };
        };
      };
    };
  };
  readonly noticeSettingsView: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly bot_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['NoticeSettingsView'];
          };
        };
      };
    };
  };
  readonly noticeSettingsChange: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly bot_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['ChangeNoticeSettings'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['NoticeSettingsView'];
          };
        };
      };
    };
  };
  readonly serversRegister: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['RegisterServer'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ServerView'];
          };
        };
      };
    };
  };
  readonly serversList: {
    readonly parameters: {
      readonly query?: {
        readonly page?: number;
        readonly page_size?: number;
        /** @description `pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none */
        readonly after?: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ServersView'];
          };
        };
      };
    };
  };
  readonly serversCancelDeletion: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path: {
        readonly guild_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ServerView'];
          };
        };
      };
    };
  };
  readonly categoriesRegister: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json':
          components['schemas']['RegisterCategory'] | components['schemas']['RegisterGuideCategories'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data:
              components['schemas']['CategoryView'] | components['schemas']['RegisteredCategoriesView'];
          };
        };
      };
    };
  };
  readonly categoriesList: {
    readonly parameters: {
      readonly query?: {
        readonly page?: number;
        readonly page_size?: number;
        /** @description `pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none */
        readonly after?: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['CategoriesView'];
          };
        };
      };
    };
  };
  readonly categoriesView: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly key: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['CategoryView'];
          };
        };
      };
    };
  };
  readonly categoriesChange: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly key: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['ChangeCategory'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['CategoryView'];
          };
        };
      };
    };
  };
  readonly categoriesDelete: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly key: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['CategoryDeletedView'];
          };
        };
      };
    };
  };
  readonly consentRequest: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json':
          components['schemas']['RequestConsent'] | components['schemas']['RequestConsentForBot'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ConsentRequestedView'];
          };
        };
      };
    };
  };
  readonly consentAccept: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json':
          components['schemas']['AcceptConsent'] | components['schemas']['AcceptConsentForBot'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['AcceptedConsentView'];
          };
        };
      };
    };
  };
  readonly consentDecline: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json':
          components['schemas']['DeclineConsent'] | components['schemas']['DeclineConsentForBot'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ConsentDeclinedView'];
          };
        };
      };
    };
  };
  readonly consentRevoke: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json':
          components['schemas']['RevokeConsent'] | components['schemas']['RevokeConsentForBot'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ConsentView'];
          };
        };
      };
    };
  };
  readonly consentStatus: {
    readonly parameters: {
      readonly query: {
        readonly user_id: string;
        readonly guild_id: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ConsentStatusView'];
          };
        };
      };
    };
  };
  readonly consentStatuses: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['StatusBatch'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['StatusBatchView'];
          };
        };
      };
    };
  };
  readonly consentHistory: {
    readonly parameters: {
      readonly query: {
        readonly page?: number;
        readonly page_size?: number;
        /** @description `pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none */
        readonly after?: string;
        readonly user_id: string;
        readonly guild_id: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ConsentHistoryView'];
          };
        };
      };
    };
  };
  readonly consentReceipt: {
    readonly parameters: {
      readonly query: {
        readonly user_id: string;
        readonly guild_id: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ConsentReceiptView'];
          };
        };
      };
    };
  };
  readonly consentTextsList: {
    readonly parameters: {
      readonly query?: {
        readonly page?: number;
        readonly page_size?: number;
        /** @description `pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none */
        readonly after?: string;
        /** @description The texts of this version alone */
        readonly consent_version?: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ConsentTextsListView'];
          };
        };
      };
    };
  };
  readonly consentTextsRegister: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['RegisterConsentText'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ConsentTextView'];
          };
        };
      };
    };
  };
  readonly consentTextsWords: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        /** @description The digest that the history of a consent names */
        readonly digest: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ConsentWordsView'];
          };
        };
      };
    };
  };
  readonly usersList: {
    readonly parameters: {
      readonly query?: {
        readonly page_size?: number;
        /** @description `pagination.next` of the page before */
        readonly after?: string;
        /** @description One user, in every guild */
        readonly user_id?: string;
        /** @description One guild */
        readonly guild_id?: string;
        /** @description State of the consent; with `category`, of this category in it */
        readonly status?: 'none' | 'pending' | 'accepted' | 'revoked';
        /** @description Key of a registered category: users whose consent or request names it, or is about all */
        readonly category?: string;
        /** @description `key`: all users, in a fixed order; `recent`: the users of the newest 5,000 audit events, newest first; default `key` */
        readonly order?: 'key' | 'recent';
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['UsersView'];
          };
        };
      };
    };
  };
  readonly userDataSubmit: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json':
          components['schemas']['SubmitData'] | components['schemas']['SubmitDataForBot'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['SubmittedView'];
          };
        };
      };
    };
  };
  readonly userDataSubmitBatch: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['SubmitBatch'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['SubmittedBatchView'];
          };
        };
      };
    };
  };
  readonly userValuesOfGuild: {
    readonly parameters: {
      readonly query: {
        readonly page?: number;
        readonly page_size?: number;
        /** @description `pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none */
        readonly after?: string;
        readonly guild_id: string;
        /** @description Key of a registered category */
        readonly category: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['GuildValuesView'];
          };
        };
      };
    };
  };
  readonly userValuesOfUser: {
    readonly parameters: {
      readonly query: {
        readonly guild_id: string;
        /** @description One category; default all that the consent covers */
        readonly category?: string;
      };
      readonly header?: never;
      readonly path: {
        readonly user_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ValuesView'];
          };
        };
      };
    };
  };
  readonly userValuesErase: {
    readonly parameters: {
      readonly query: {
        readonly guild_id: string;
        /** @description Key of a registered category */
        readonly category: string;
      };
      readonly header?: never;
      readonly path: {
        readonly user_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ValuesErasedView'];
          };
        };
      };
    };
  };
  readonly processingRefusalsObject: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json':
          components['schemas']['RefuseProcessing'] | components['schemas']['RefuseProcessingForBot'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['RefusalsView'];
          };
        };
      };
    };
  };
  readonly processingRefusalsRestrict: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json':
          components['schemas']['RefuseProcessing'] | components['schemas']['RefuseProcessingForBot'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['RefusalsView'];
          };
        };
      };
    };
  };
  readonly processingRefusalsUnrestrict: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json':
          components['schemas']['RefuseProcessing'] | components['schemas']['RefuseProcessingForBot'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['RefusalsView'];
          };
        };
      };
    };
  };
  readonly processingRefusalsOf: {
    readonly parameters: {
      readonly query: {
        readonly guild_id: string;
      };
      readonly header?: never;
      readonly path: {
        readonly user_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['RefusalsView'];
          };
        };
      };
    };
  };
  readonly auditWrite: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['WriteAuditEvent'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['AuditEventView'];
          };
        };
      };
    };
  };
  readonly auditList: {
    readonly parameters: {
      readonly query?: {
        readonly page?: number;
        readonly page_size?: number;
        /** @description `pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none */
        readonly after?: string;
        readonly user_id?: string;
        readonly guild_id?: string;
        readonly event_type?:
          | 'consent_requested'
          | 'consent_accepted'
          | 'consent_revoked'
          | 'data_submitted'
          | 'data_exported'
          | 'data_deleted'
          | 'deletion_requested'
          | 'deletion_completed'
          | 'deletion_failed';
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['AuditEventsView'];
          };
        };
      };
    };
  };
  readonly sealingProof: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly event_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['AuditProofView'];
          };
        };
      };
    };
  };
  readonly sealingCheckpoints: {
    readonly parameters: {
      readonly query?: {
        readonly page?: number;
        readonly page_size?: number;
        /** @description `pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none */
        readonly after?: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['CheckpointsView'];
          };
        };
      };
    };
  };
  readonly sealingExport: {
    readonly parameters: {
      readonly query?: {
        readonly after?: number;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/x-ndjson': {
            readonly [key: string]: unknown;
          } & components['schemas']['AuditLineView'];
        };
      };
    };
  };
  readonly deliveriesList: {
    readonly parameters: {
      readonly query?: {
        readonly page?: number;
        readonly page_size?: number;
        /** @description `pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none */
        readonly after?: string;
        readonly status?: 'pending' | 'delivered' | 'exhausted' | 'gone' | 'cancelled';
        readonly event?: 'user_forgotten' | 'consent_revoked' | 'data_corrected' | 'holder_task' | 'ping';
        readonly user_id?: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['DeliveriesView'];
          };
        };
      };
    };
  };
  readonly deliveriesView: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['DeliveryDetailsView'];
          };
        };
      };
    };
  };
  readonly deliveriesRedeliver: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path: {
        readonly id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['DeliveryView'];
          };
        };
      };
    };
  };
  readonly deliveriesReplay: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['Replay'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ReplayView'];
          };
        };
      };
    };
  };
  readonly deliveriesTest: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['DeliveryView'];
          };
        };
      };
    };
  };
  readonly statsRead: {
    readonly parameters: {
      readonly query?: {
        /** @description The first day (UTC); 29 days before `to` by default */
        readonly from?: string;
        /** @description The last day (UTC), at most 400 days after `from`; today by default */
        readonly to?: string;
        /** @description `day` by default. `hour` for at most 31 days */
        readonly bucket?: 'hour' | 'day';
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['StatsView'];
          };
        };
      };
    };
  };
  readonly privacyLinksCreate: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['NewPrivacyLink'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['PrivacyLinkView'];
          };
        };
      };
    };
  };
  readonly privacyLinksRemove: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['PrivacyLinkDeletedView'];
          };
        };
      };
    };
  };
  readonly reportsBreachScope: {
    readonly parameters: {
      readonly query: {
        /** @description The first moment of the period */
        readonly from: string;
        /** @description The moment at which the period is over; at most 366 days later */
        readonly to: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['BreachScopeView'];
          };
        };
      };
    };
  };
  readonly reportsRecord: {
    readonly parameters: {
      readonly query?: {
        /** @description Takes precedence over the `Accept` header. `markdown` and `html` answer a document without an envelope */
        readonly format?: 'json' | 'markdown' | 'html';
        /** @description The language of the sentences of the service, `en` by default. With it the JSON has `language`, `notice_settings` and `gaps` too */
        readonly language?: 'de' | 'en';
      };
      readonly header?: never;
      readonly path: {
        readonly bot_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ProcessingRecordView'];
          };
          readonly 'text/markdown': string;
          readonly 'text/html': string;
        };
      };
    };
  };
  readonly reportsDossier: {
    readonly parameters: {
      readonly query?: {
        /** @description Takes precedence over the `Accept` header. `markdown` and `html` answer a document without an envelope */
        readonly format?: 'json' | 'markdown' | 'html';
        /** @description The language of the sentences of the service, `en` by default */
        readonly language?: 'de' | 'en';
      };
      readonly header?: never;
      readonly path: {
        readonly bot_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ReviewDossierView'];
          };
          readonly 'text/markdown': string;
          readonly 'text/html': string;
        };
      };
    };
  };
  readonly operatorState: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['StatusView'];
          };
        };
      };
    };
  };
  readonly operatorFindings: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['FindingsView'];
          };
        };
      };
    };
  };
  readonly operatorSizes: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['StorageView'];
          };
        };
      };
    };
  };
  readonly operatorList: {
    readonly parameters: {
      readonly query?: {
        readonly page?: number;
        readonly page_size?: number;
        /** @description `pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none */
        readonly after?: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['OperatedBotList'];
          };
        };
      };
    };
  };
  readonly operatorSuspend: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['OperatedBotView'];
          };
        };
      };
    };
  };
  readonly operatorResume: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['OperatedBotView'];
          };
        };
      };
    };
  };
  readonly operatorSetTier: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['SetTierDto'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['OperatedBotView'];
          };
        };
      };
    };
  };
  readonly operatorExported: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/x-ndjson': {
            readonly [key: string]: unknown;
          } & components['schemas']['LedgerLine'];
        };
      };
    };
  };
  readonly erasureForget: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['ForgetUser'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data:
              components['schemas']['ForgottenView'] | components['schemas']['ForgottenEverywhereView'];
          };
        };
      };
    };
  };
  readonly erasureStatus: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['DeletionRequestView'];
          };
        };
      };
    };
  };
  readonly erasureDeleteGuild: {
    readonly parameters: {
      readonly query?: {
        readonly grace_days?: number;
      };
      readonly header?: never;
      readonly path: {
        readonly guild_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['GuildErasedView'];
          };
        };
      };
    };
  };
  readonly certificateCertificate: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['CertificateView'];
          };
        };
      };
    };
  };
  readonly exportUser: {
    readonly parameters: {
      readonly query?: {
        /** @description Required without scope, to be left out with it */
        readonly guild_id?: string;
        /** @description all_guilds: one user in every guild of the bot */
        readonly scope?: 'all_guilds';
        /** @description full: history, audit events and purposes too */
        readonly format?: 'full';
      };
      readonly header?: never;
      readonly path: {
        readonly user_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['ExportView'] | components['schemas']['ExportAllGuildsView'];
          };
        };
      };
    };
  };
  readonly holdersList: {
    readonly parameters: {
      readonly query?: {
        readonly page?: number;
        readonly page_size?: number;
        /** @description `pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none */
        readonly after?: string;
      };
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['HoldersView'];
          };
        };
      };
    };
  };
  readonly holdersRegister: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['RegisterHolder'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 201: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['HolderView'];
          };
        };
      };
    };
  };
  readonly holdersView: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly key: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['HolderView'];
          };
        };
      };
    };
  };
  readonly holdersChange: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly key: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['ChangeHolder'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['HolderView'];
          };
        };
      };
    };
  };
  readonly holdersDelete: {
    readonly parameters: {
      readonly query?: {
        /** @description true: the open tasks of the holder get the result abandoned */
        readonly abandon?: 'true' | 'false';
      };
      readonly header?: never;
      readonly path: {
        readonly key: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['HolderDeletedView'];
          };
        };
      };
    };
  };
  readonly holderTasksList: {
    readonly parameters: {
      readonly query?: {
        readonly page_size?: number;
        /** @description `pagination.next` of the page before */
        readonly after?: string;
        /** @description Behind the open tasks those that were answered at or after this time follow */
        readonly since?: string;
      };
      readonly header?: never;
      readonly path: {
        readonly key: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['TasksView'];
          };
        };
      };
    };
  };
  readonly holderTasksAcknowledge: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /** @description A key of the caller for this act, best a random UUID. A repeat with the same key and body within 24 hours is answered like the first request, and the act is not done again */
        readonly 'Idempotency-Key'?: string;
      };
      readonly path: {
        readonly key: string;
        readonly task_id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['AcknowledgeTask'];
      };
    };
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['TaskView'];
          };
        };
      };
    };
  };
  readonly finalCertificateRead: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path: {
        readonly id: string;
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description Success */
      readonly 200: {
        headers: {
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': {
            /** @enum {boolean} */
            readonly success: true;
            readonly data: components['schemas']['CertificateView'];
          };
        };
      };
    };
  };
}
