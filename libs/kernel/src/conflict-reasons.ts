/** Every value of `details.reason` of a 409: its meaning, and how a caller corrects it. */
export const CONFLICT_REASONS = {
  bot_exists: {
    meaning: 'A bot with this `platform_bot_id` is registered',
    mend: 'Use the API key of that registration. To start anew, delete the bot with its key, or register another `platform_bot_id`.',
  },
  category_exists: {
    meaning: 'The bot has a category with this `key`',
    mend: 'Go on with the registered category, or change it with `PUT /data/categories/{key}`.',
  },
  category_in_use: {
    meaning:
      'The change removes a declared field of the category or gives it another type, or it turns `requires_consent`, or `legal_basis` to `consent`, while values are stored that would lose their basis; or it turns `legal_basis` to one that can be objected to, while values are stored of users who have objected to everything',
    mend: 'Send all declared fields with their types and append the new ones, or register a new category. For `requires_consent` and `legal_basis`, erase the values first, or register a new category where there are more than 10,000.',
  },
  deletion_in_progress: {
    meaning: 'An erasure of this user, or the deletion of this server, has begun and is not completed',
    mend: 'Wait: the service finishes it without a further request. Read it with `GET /gdpr/forget-status/{id}`.',
  },
  deletion_not_completed: {
    meaning: 'The erasure is not completed, and only a completed erasure has a certificate',
    mend: 'Poll `GET /gdpr/forget-status/{id}` until `status` is `completed`, then ask for the certificate again.',
  },
  no_certificate: {
    meaning:
      'The ledger of erasures does not contain the erasure as it is recorded, or it was not carried out on the data held now: a backup was restored since, or the record is past its retention; or the stored answer of a holder is not the one that was received',
    mend: 'Nothing to mend: this erasure gets no certificate. `GET /gdpr/forget-status/{id}` still describes it.',
  },
  no_holders: {
    meaning: 'The bot had no holder when the erasure was completed, so no answer of one is to be certified',
    mend: 'Read the certificate of the erasure with `GET /gdpr/forget-status/{id}/certificate`: there is no other.',
  },
  coverage_incomplete: {
    meaning:
      'A holder of the bot has not answered the task of this erasure, has failed, or was deleted before it answered',
    mend: 'Wait until `coverage.complete` of `GET /gdpr/forget-status/{id}` is true. An abandoned task stays: the erasure gets no final certificate.',
  },
  rotation_in_progress: {
    meaning:
      'Two webhook secrets are valid at present, and a third would need another overlap; or this API key was rotated before',
    mend: 'Of a webhook secret: wait until the overlap ends, or send `overlap_seconds` 0, which ends it at once. Of a key: rotate its successor. If that was lost, make a key with `POST /bots/{bot_id}/keys` and delete the lost one.',
  },
  last_admin_key: {
    meaning: 'Without this key the bot would have no key of scope `admin` that lasts',
    mend: 'Make another key with the scope `admin` and without `expires_at`, then delete this one with it.',
  },
  report_in_progress: {
    meaning: 'The service is still making the breach report that this bot asked for before',
    mend: 'Wait for the answer to the first request, then repeat this one.',
  },
  no_webhook_url: {
    meaning: 'The bot has no `webhook_url` that a call could be sent to',
    mend: 'Set one with `PUT /bots/{bot_id}`, then repeat the request.',
  },
  text_exists: {
    meaning: 'The version has another text in this language, which users may have agreed to',
    mend: 'Register the changed text under a new `consent_version` and ask the users again.',
  },
  too_many_languages: {
    meaning: 'The version has texts in as many languages as a version can have',
    mend: 'Register no further language for this `consent_version`.',
  },
  limit_reached: {
    meaning: 'The bot has as many of these as a bot may have; `details.limit` is their number',
    mend: 'Change or delete one that is no longer needed. The operator sets those of categories and consent texts; the others are fixed.',
  },
  idempotency_key_reused: {
    meaning: 'The `Idempotency-Key` was sent with another body in the last 24 hours',
    mend: 'Use a new key for another act. Repeat a request with the body that it had.',
  },
  idempotency_in_progress: {
    meaning: 'A request with this `Idempotency-Key` is being answered',
    mend: 'Wait for the answer to it, or repeat the request after a second.',
  },
  idempotency_answer_erased: {
    meaning:
      'What was stored for this `Idempotency-Key` was erased with the user whom it was about, the category or holder that it made was deleted, or its key is lost',
    mend: 'Nothing to mend: an act under this key took effect before that. Use a new key for a new act.',
  },
  superseded: {
    meaning:
      'A repeat of the batch does not do the item: the first request has stored a later item that it would undo, about the same user, guild and category',
    mend: 'Nothing to mend: the value of the later item is stored. Send the item by itself if it is to replace that.',
  },
  holder_exists: {
    meaning: 'The bot has a holder with this `key`',
    mend: 'Go on with the registered holder, or change it with `PUT /holders/{key}`.',
  },
  holder_has_open_tasks: {
    meaning: 'The holder has not answered all of its tasks, and deleting it would leave users in its store',
    mend: 'Answer the tasks of `GET /holders/{key}/tasks` first. If the store no longer exists, send `abandon=true`: the erasures say then that it never answered.',
  },
  task_answered: {
    meaning: 'The task has another final answer, which `details.result` names',
    mend: 'Nothing to mend: the first final answer stays. Only `kept` can be followed: by `erased` or `nothing` when its basis has ended, or by `kept` until a later time.',
  },
  not_objectable: {
    meaning:
      'A user can object to a category of `legitimate_interests` or `public_task` (GDPR Art. 21); `details.legal_basis` names the one that this category has',
    mend: 'For `consent` record the withdrawal with `POST /consents/revoke`. For another one erase with `DELETE /data/values/{user_id}`, or everything with `POST /gdpr/forget-user`.',
  },
  nothing_scheduled: {
    meaning: 'No deletion of this server is scheduled',
    mend: 'Nothing to mend: the server is not going to be deleted.',
  },
} as const satisfies Readonly<Record<string, Record<'meaning' | 'mend', string>>>;

/** The values of `details.reason` of a 409. */
export type ConflictReason = keyof typeof CONFLICT_REASONS;
