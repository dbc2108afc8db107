"""The calls that need no more than their request. It is made of openapi.json: npm run openapi."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Optional

from ._async_caller import AsyncGroup, AsyncPages, AsyncWalk
from ._core import OMITTED, CallOptions
from .types import (
    AcceptedConsentView,
    ApiKeyCreatedView,
    ApiKeyDeletedView,
    ApiKeyRotatedView,
    ApiKeyView,
    AuditEventView,
    AuditProofView,
    BotDeletedView,
    BotRegisteredView,
    BotView,
    BreachScopeView,
    CategoryDeletedView,
    CategoryText,
    CategoryView,
    CertificateView,
    ChangeNoticeSettings,
    CheckpointView,
    ConsentDeclinedView,
    ConsentHistoryEntryView,
    ConsentReceiptView,
    ConsentRequestedView,
    ConsentStatusView,
    ConsentTextView,
    ConsentView,
    ConsentWordsView,
    DataFieldInput,
    DeletionRequestView,
    DeliveryDetailsView,
    DeliveryView,
    FindingsView,
    FurtherConsentText,
    GuildErasedView,
    HolderDeletedView,
    HolderView,
    HoldersAcknowledgeKept,
    Id,
    ListedUserView,
    NoticeRecipient,
    NoticeSettingsView,
    OperatedBotView,
    PrivacyLinkDeletedView,
    PrivacyLinkView,
    RefusalsView,
    ReplayView,
    ServerView,
    StatsView,
    StatusView,
    StorageView,
    TaskView,
    UserValueView,
    ValuesErasedView,
    ValuesView,
    WebhookSecretView,
)


class AsyncBots(AsyncGroup):
    async def register(
        self,
        *,
        platform_bot_id: Id,
        name: str,
        privacy_contact: Optional[str] = OMITTED,
        webhook_url: Optional[str] = OMITTED,
        notice: Optional[ChangeNoticeSettings] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> BotRegisteredView:
        """Register a bot and receive its API key.

        Makes the bot a tenant and answers its API key and its webhook secret. Both are shown only here: the
        service keeps a digest of the key. `notice` sets what the privacy notice says about the bot from its
        first moment. A repeat with the same `platform_bot_id` is refused with 409 `bot_exists`. The operator can
        demand a token, sent as `X-Registration-Token` (else 401), or refuse all registrations (404).
        """
        given: Dict[str, Any] = {
            "platform_bot_id": platform_bot_id,
            "name": name,
            "privacy_contact": privacy_contact,
            "webhook_url": webhook_url,
            "notice": notice,
        }
        answer: BotRegisteredView = await self._call.send("POST /bots/register", given, options)
        return answer

    async def me(self, *, options: Optional[CallOptions] = None) -> BotView:
        """Read the bot of the key.

        Answers what `GET /bots/{bot_id}` answers, for a caller who knows the key alone.
        """
        given: Dict[str, Any] = {}
        answer: BotView = await self._call.send("GET /bots/me", given, options)
        return answer

    async def get(self, bot_id: str, *, options: Optional[CallOptions] = None) -> BotView:
        """Read the bot.

        Answers what is stored about the bot that the key belongs to, and the state of its webhook calls. Any
        other id is answered with 404, whether a bot has it or not.
        """
        given: Dict[str, Any] = {"bot_id": bot_id}
        answer: BotView = await self._call.send("GET /bots/{bot_id}", given, options)
        return answer

    async def change(
        self,
        *,
        name: Optional[str] = OMITTED,
        privacy_contact: Optional[str] = OMITTED,
        webhook_url: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> BotView:
        """Change what is given; null clears.

        Changes the fields that the body names and leaves the others as they are. `null` removes
        `privacy_contact` or `webhook_url`. The answer is the whole bot after the change. A repeat has the same
        result.
        """
        given: Dict[str, Any] = {"name": name, "privacy_contact": privacy_contact, "webhook_url": webhook_url}
        answer: BotView = await self._call.send("PUT /bots/{bot_id}", given, options)
        return answer

    async def delete(self, *, options: Optional[CallOptions] = None) -> BotDeletedView:
        """Delete the bot and all its data; irreversible.

        Voids the API keys at once, then deletes everything that the bot has stored: users, consents, categories,
        webhook calls and its audit log. No webhook is sent. A repeat is answered with 401, since the key no
        longer exists; afterwards the same `platform_bot_id` can be registered again. A suspended bot cannot be
        deleted by its key.
        """
        given: Dict[str, Any] = {}
        answer: BotDeletedView = await self._call.send("DELETE /bots/{bot_id}", given, options)
        return answer

    async def notice_settings(self, *, options: Optional[CallOptions] = None) -> NoticeSettingsView:
        """Read what the privacy notice says about the bot.

        Answers what the bot has set of its controller, its data protection officer, recipients and the other
        facts of GDPR Art. 13, with the latest changes. What is not set is not in the answer. `countries` has the
        names of the countries of the recipients, `page_url` the address of the public notice, and
        `data_after_withdrawal` the days after which a withdrawal erases.
        """
        given: Dict[str, Any] = {}
        answer: NoticeSettingsView = await self._call.send("GET /bots/{bot_id}/notice-settings", given, options)
        return answer

    async def change_notice_settings(
        self,
        *,
        public: Optional[bool] = OMITTED,
        controller_name: Optional[str] = OMITTED,
        controller_address: Optional[str] = OMITTED,
        controller_email: Optional[str] = OMITTED,
        officer_name: Optional[str] = OMITTED,
        officer_email: Optional[str] = OMITTED,
        recipients: Optional[List[NoticeRecipient]] = OMITTED,
        interests_de: Optional[str] = OMITTED,
        interests_en: Optional[str] = OMITTED,
        source_de: Optional[str] = OMITTED,
        source_en: Optional[str] = OMITTED,
        automated_decisions: Optional[Literal["none", "exist"]] = OMITTED,
        automated_decisions_de: Optional[str] = OMITTED,
        automated_decisions_en: Optional[str] = OMITTED,
        authority_name: Optional[str] = OMITTED,
        authority_url: Optional[str] = OMITTED,
        notice_url: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> NoticeSettingsView:
        """Set what the privacy notice says about the bot; null clears.

        Changes the settings that the body names and leaves the others as they are. They are shown to users on
        the privacy page and in the copy to read, in the record of processing activities, and with `public` to
        everybody on the page `/notice/{bot_id}`. A repeat has the same result.
        """
        given: Dict[str, Any] = {
            "public": public,
            "controller_name": controller_name,
            "controller_address": controller_address,
            "controller_email": controller_email,
            "officer_name": officer_name,
            "officer_email": officer_email,
            "recipients": recipients,
            "interests_de": interests_de,
            "interests_en": interests_en,
            "source_de": source_de,
            "source_en": source_en,
            "automated_decisions": automated_decisions,
            "automated_decisions_de": automated_decisions_de,
            "automated_decisions_en": automated_decisions_en,
            "authority_name": authority_name,
            "authority_url": authority_url,
            "notice_url": notice_url,
        }
        answer: NoticeSettingsView = await self._call.send("PUT /bots/{bot_id}/notice-settings", given, options)
        return answer


class AsyncWebhooks(AsyncGroup):
    async def rotate_secret(
        self,
        *,
        overlap_seconds: Optional[int] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> WebhookSecretView:
        """Replace the secret that signs the webhook calls.

        Issues a new webhook secret, which is shown only here. Until `overlap_until` calls carry signatures of
        both secrets, so that no call is lost while the receiver changes over. While two secrets overlap a
        further rotation is refused with 409 `rotation_in_progress`, unless it ends the overlap with
        `overlap_seconds` 0.
        """
        given: Dict[str, Any] = {"overlap_seconds": overlap_seconds}
        answer: WebhookSecretView = await self._call.send("POST /bots/{bot_id}/webhook-secret/rotate", given, options)
        return answer

    def deliveries(
        self,
        *,
        status: Optional[Literal["pending", "delivered", "exhausted", "gone", "cancelled"]] = OMITTED,
        event: Optional[Literal["user_forgotten", "consent_revoked", "data_corrected", "holder_task", "ping"]] = OMITTED,
        user_id: Optional[Id] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[DeliveryView]:
        """List the webhook calls of the last 30 days, newest first.

        Answers one page of the calls with the outcome of their last attempt. Filter by `status`, `event` or
        `user_id`. Calls with `exhausted`, `gone` or `cancelled` were not delivered and can be sent again.
        """
        given: Dict[str, Any] = {"status": status, "event": event, "user_id": user_id}
        return AsyncPages(self._call, "GET /webhooks/deliveries", "deliveries", given, options)

    async def delivery(self, id: str, *, options: Optional[CallOptions] = None) -> DeliveryDetailsView:
        """Read one webhook call with its attempts.

        Answers one call with its body and up to 100 of its latest attempts. After the confirmation only the ids,
        keys and times of the body are kept.
        """
        given: Dict[str, Any] = {"id": id}
        answer: DeliveryDetailsView = await self._call.send("GET /webhooks/deliveries/{id}", given, options)
        return answer

    async def redeliver(self, id: str, *, options: Optional[CallOptions] = None) -> DeliveryView:
        """Send one webhook call again, with the same id.

        Queues the call again, whatever its outcome was. It carries the same `webhook-id`, so a receiver that
        remembers ids recognises it. A call that waits is sent now. Without a `webhook_url` the answer is 409
        `no_webhook_url`.
        """
        given: Dict[str, Any] = {"id": id}
        answer: DeliveryView = await self._call.send("POST /webhooks/deliveries/{id}/redeliver", given, options)
        return answer

    async def replay(
        self,
        *,
        since: str,
        undelivered_only: Optional[bool] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> ReplayView:
        """Send every event since a time again, for instance after a backup of the bot was restored.

        Queues every call since a time again, oldest first, with the ids that the calls had. `undelivered_only`
        leaves out what the receiver has confirmed. If the call is interrupted, repeat it: with the same
        `Idempotency-Key` it continues; without one it begins anew, and unless `undelivered_only` is true it
        sends again what was confirmed meanwhile.
        """
        given: Dict[str, Any] = {"since": since, "undelivered_only": undelivered_only}
        answer: ReplayView = await self._call.send("POST /webhooks/replay", given, options)
        return answer

    async def test(self, *, options: Optional[CallOptions] = None) -> DeliveryView:
        """Send a signed ping; its delivery shows the answer of the receiver.

        Queues a `ping` that is signed like every other call. Read the delivery with the `id` of this answer to
        see what the receiver answered. A repeat sends a further ping.
        """
        given: Dict[str, Any] = {}
        answer: DeliveryView = await self._call.send("POST /webhooks/test", given, options)
        return answer


class AsyncKeys(AsyncGroup):
    def list(self, *, options: Optional[CallOptions] = None) -> AsyncPages[ApiKeyView]:
        """List the valid API keys of the bot, newest first.

        Answers what the keys are called and allow, until when, and when they were last used; never the keys
        themselves. A deleted or expired key is not listed. A bot has at most five.
        """
        given: Dict[str, Any] = {}
        return AsyncPages(self._call, "GET /bots/{bot_id}/keys", "keys", given, options)

    async def create(
        self,
        *,
        name: Optional[str] = OMITTED,
        scopes: Optional[List[Literal["read", "write", "erase", "admin"]]] = OMITTED,
        expires_at: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> ApiKeyCreatedView:
        """Make a further API key, with all scopes or some of them.

        Answers a new key, which is shown only here. A key grants no scope that it lacks: else the answer is 403
        `insufficient_scope`. All keys of a bot share one rate limit. A repeat makes another key, until the sixth
        is refused with 409 `limit_reached`.
        """
        given: Dict[str, Any] = {"name": name, "scopes": scopes, "expires_at": expires_at}
        answer: ApiKeyCreatedView = await self._call.send("POST /bots/{bot_id}/keys", given, options)
        return answer

    async def rotate(
        self,
        *,
        overlap_seconds: Optional[int] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> ApiKeyRotatedView:
        """Replace the API key of this call.

        Answers a new key with the name, the scopes and the expiry of the key that this call is made with; it is
        shown only here. The old one is void at `overlap_until`, or with `overlap_seconds` 0 when this is
        answered. A key is rotated once: a repeat with the old key is refused with 409 `rotation_in_progress`.
        """
        given: Dict[str, Any] = {"overlap_seconds": overlap_seconds}
        answer: ApiKeyRotatedView = await self._call.send("POST /bots/{bot_id}/keys/rotate", given, options)
        return answer

    async def delete(self, key_id: str, *, options: Optional[CallOptions] = None) -> ApiKeyDeletedView:
        """Void an API key.

        The key is 401 in every process when this is answered. The last key of scope `admin` without `expires_at`
        is refused with 409 `last_admin_key`, so that the bot does not lock itself out. A repeat is answered with
        404.
        """
        given: Dict[str, Any] = {"key_id": key_id}
        answer: ApiKeyDeletedView = await self._call.send("DELETE /bots/{bot_id}/keys/{key_id}", given, options)
        return answer


class AsyncServers(AsyncGroup):
    async def register(
        self,
        *,
        guild_id: Id,
        name: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> ServerView:
        """Register a server.

        Registers a guild under its platform id. A repeat changes the name if one is given, answers 201 as well,
        and cancels a scheduled deletion of the guild that has not begun. Consents, data and the deletion of a
        whole guild need no registered server.
        """
        given: Dict[str, Any] = {"guild_id": guild_id, "name": name}
        answer: ServerView = await self._call.send("POST /servers/register", given, options)
        return answer

    def list(self, *, options: Optional[CallOptions] = None) -> AsyncPages[ServerView]:
        """List the servers.

        Answers one page of the registered servers, oldest first.
        """
        given: Dict[str, Any] = {}
        return AsyncPages(self._call, "GET /servers", "servers", given, options)

    async def cancel_deletion(self, *, guild_id: Id, options: Optional[CallOptions] = None) -> ServerView:
        """Cancel the scheduled deletion of a server.

        Cancels a deletion that was scheduled with `grace_days`. From this answer on nothing is erased by it.
        Without a scheduled deletion the answer is 409 `nothing_scheduled`; once the deletion has begun it cannot
        be cancelled, and the answer is 409 `deletion_in_progress`.
        """
        given: Dict[str, Any] = {"guild_id": guild_id}
        answer: ServerView = await self._call.send("POST /servers/{guild_id}/cancel-deletion", given, options)
        return answer

    async def delete(
        self,
        *,
        guild_id: Id,
        grace_days: Optional[int] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> GuildErasedView:
        """Remove a server and erase every user of it, at once or later.

        Erases every user of the guild, each as an erasure of its own with its webhook, then removes the
        registration of the guild. With `grace_days` nothing is erased before `scheduled_for`, and the deletion
        can be cancelled until then. If the call is interrupted, repeat it: it continues with the users that are
        left. A guild that is neither registered nor has users is answered with 404.
        """
        given: Dict[str, Any] = {"guild_id": guild_id, "grace_days": grace_days}
        answer: GuildErasedView = await self._call.send("DELETE /servers/{guild_id}", given, options)
        return answer


class AsyncCategories(AsyncGroup):
    async def register(
        self,
        *,
        key: str,
        label_de: str,
        label_en: str,
        fields: List[DataFieldInput],
        labels: Optional[Mapping[str, str]] = OMITTED,
        description: Optional[str] = OMITTED,
        description_de: Optional[str] = OMITTED,
        description_en: Optional[str] = OMITTED,
        descriptions: Optional[Mapping[str, str]] = OMITTED,
        retention_days: Optional[int] = OMITTED,
        legal_basis: Optional[Literal["consent", "contract", "legal_obligation", "vital_interests", "public_task", "legitimate_interests"]] = OMITTED,
        requires_consent: Optional[bool] = OMITTED,
        reason_de: Optional[str] = OMITTED,
        reason_en: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> CategoryView:
        """Declare a data category and its fields.

        Declares what the bot will store: a key, labels in German and English, and typed fields that every submit
        is checked against. Purpose (`description_de`, `description_en`, `descriptions`, and `description` where
        these are missing), `retention_days` and `legal_basis` appear in exports and in the record of processing
        activities (GDPR Art. 30). A key that is registered already is refused with 409 `category_exists`; where
        values need a consent beside another `legal_basis`, `warnings` says so; with `requires_consent: false`,
        another `legal_basis` than consent and a reason in German and English the category is stored without a
        consent, which users read on their page and in the notice. In the shape with `bot_id` several categories
        are declared at once, all of them or none.
        """
        given: Dict[str, Any] = {
            "key": key,
            "label_de": label_de,
            "label_en": label_en,
            "fields": fields,
            "labels": labels,
            "description": description,
            "description_de": description_de,
            "description_en": description_en,
            "descriptions": descriptions,
            "retention_days": retention_days,
            "legal_basis": legal_basis,
            "requires_consent": requires_consent,
            "reason_de": reason_de,
            "reason_en": reason_en,
        }
        answer: CategoryView = await self._call.send("POST /data/register", given, options)
        return answer

    def list(self, *, options: Optional[CallOptions] = None) -> AsyncPages[CategoryView]:
        """List the data categories.

        Answers one page of the declared categories with their fields, oldest first.
        """
        given: Dict[str, Any] = {}
        return AsyncPages(self._call, "GET /data/categories", "categories", given, options)

    async def get(self, key: str, *, options: Optional[CallOptions] = None) -> CategoryView:
        """Read a data category.

        Answers one declared category with its fields. An unknown key is answered with 404.
        """
        given: Dict[str, Any] = {"key": key}
        answer: CategoryView = await self._call.send("GET /data/categories/{key}", given, options)
        return answer

    async def change(
        self,
        *,
        key: str,
        labels: Optional[Mapping[str, str]] = OMITTED,
        description: Optional[str] = OMITTED,
        description_de: Optional[str] = OMITTED,
        description_en: Optional[str] = OMITTED,
        descriptions: Optional[Mapping[str, str]] = OMITTED,
        retention_days: Optional[int] = OMITTED,
        legal_basis: Optional[Literal["consent", "contract", "legal_obligation", "vital_interests", "public_task", "legitimate_interests"]] = OMITTED,
        requires_consent: Optional[bool] = OMITTED,
        reason_de: Optional[str] = OMITTED,
        reason_en: Optional[str] = OMITTED,
        label_de: Optional[str] = OMITTED,
        label_en: Optional[str] = OMITTED,
        fields: Optional[List[DataFieldInput]] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> CategoryView:
        """Change a data category.

        Changes what the body names: labels, purpose, time limit, legal basis, and further fields. Stored values
        stay readable: a declared field can neither be removed nor get another type (409 `category_in_use`).
        `requires_consent` turns to true only while no value is stored, and to false only while none of a
        withdrawn consent is (409 `category_in_use`); so it is with `legal_basis` that turns to consent, or to
        one under which stored values would come under an objection. A repeat has the same result.
        """
        given: Dict[str, Any] = {
            "key": key,
            "labels": labels,
            "description": description,
            "description_de": description_de,
            "description_en": description_en,
            "descriptions": descriptions,
            "retention_days": retention_days,
            "legal_basis": legal_basis,
            "requires_consent": requires_consent,
            "reason_de": reason_de,
            "reason_en": reason_en,
            "label_de": label_de,
            "label_en": label_en,
            "fields": fields,
        }
        answer: CategoryView = await self._call.send("PUT /data/categories/{key}", given, options)
        return answer

    async def delete(self, key: str, *, options: Optional[CallOptions] = None) -> CategoryDeletedView:
        """Remove a data category and every value stored under it.

        Erases every value that any user has under this category, then removes the declaration. If the call is
        interrupted, repeat it: it continues with what is left. Once the category is removed a repeat is answered
        with 404.
        """
        given: Dict[str, Any] = {"key": key}
        answer: CategoryDeletedView = await self._call.send("DELETE /data/categories/{key}", given, options)
        return answer


class AsyncConsents(AsyncGroup):
    async def request(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        consent_version: Optional[str] = OMITTED,
        categories: Optional[List[str]] = OMITTED,
        language: Optional[str] = OMITTED,
        source: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> ConsentRequestedView:
        """Ask for a user's consent.

        Records that the user is asked for a version of the bot's terms, or for single categories. Nothing may be
        stored yet: the request is `pending` until it is accepted. With `categories` the answer holds the words
        to show to the user. A repeat for what was already asked or accepted changes nothing and answers the
        state that there is.
        """
        given: Dict[str, Any] = {
            "user_id": user_id,
            "guild_id": guild_id,
            "consent_version": consent_version,
            "categories": categories,
            "language": language,
            "source": source,
        }
        answer: ConsentRequestedView = await self._call.send("POST /consents/request", given, options)
        return answer

    async def accept(
        self,
        *,
        user_id: Optional[Id] = OMITTED,
        guild_id: Optional[Id] = OMITTED,
        consent_version: Optional[str] = OMITTED,
        consent_id: Optional[str] = OMITTED,
        categories: Optional[List[str]] = OMITTED,
        source: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> AcceptedConsentView:
        """Record that the user has accepted.

        Turns the pending request into a consent that submits can rest on (GDPR Art. 7), in place of the one
        before: what rested on a category that the new one does not grant is erased at `data_erased_at`. The
        answer holds a signed `receipt` for the user. Name the request by user, guild and version, or by its
        `consent_id`. After a success there is no pending request: a repeat by its `consent_id` for the same
        categories (if it names none, those of the consent) is answered with the consent in force and records
        nothing, any other one with 404 and `details.current_status` `accepted`.
        """
        given: Dict[str, Any] = {
            "user_id": user_id,
            "guild_id": guild_id,
            "consent_version": consent_version,
            "consent_id": consent_id,
            "categories": categories,
            "source": source,
        }
        answer: AcceptedConsentView = await self._call.send("POST /consents/accept", given, options)
        return answer

    async def decline(
        self,
        *,
        user_id: Optional[Id] = OMITTED,
        guild_id: Optional[Id] = OMITTED,
        consent_id: Optional[str] = OMITTED,
        source: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> ConsentDeclinedView:
        """Record that the user has declined.

        Ends the request that waits, named by user and guild, or by its `consent_id`. The answer is the state
        from before the request, with `declined_at`: a consent to an older version stays in force. The history
        keeps the refusal; no audit event is written, and asking again is possible at once. Without a waiting
        request, so also for a repeat, the answer is 404.
        """
        given: Dict[str, Any] = {
            "user_id": user_id,
            "guild_id": guild_id,
            "consent_id": consent_id,
            "source": source,
        }
        answer: ConsentDeclinedView = await self._call.send("POST /consents/decline", given, options)
        return answer

    async def revoke(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        categories: Optional[List[str]] = OMITTED,
        source: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> ConsentView:
        """Record that the user has withdrawn the consent.

        Withdraws the consent, or only the `categories` that are named (GDPR Art. 7(3)). From this answer on
        nothing is stored under it; what rested on it is erased at `data_erased_at`, unless the user consents
        again before. The webhook `consent_revoked` follows once no category is left: a withdrawal of some sends
        none. A repeat is answered with 404 and `details.current_status` `revoked`.
        """
        given: Dict[str, Any] = {
            "user_id": user_id,
            "guild_id": guild_id,
            "categories": categories,
            "source": source,
        }
        answer: ConsentView = await self._call.send("POST /consents/revoke", given, options)
        return answer

    async def status(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        options: Optional[CallOptions] = None,
    ) -> ConsentStatusView:
        """Read a user's consent.

        Answers the state of the consent: `none`, `pending`, `accepted` or `revoked`. A user who was never asked
        is answered with 200 and `none`, and one who has declined with `declined_at`, until the next request or
        acceptance. `pending_version` names a newer version that waits for an answer while the older one is still
        in force.
        """
        given: Dict[str, Any] = {"user_id": user_id, "guild_id": guild_id}
        answer: ConsentStatusView = await self._call.send("GET /consents/status", given, options)
        return answer

    def history(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[ConsentHistoryEntryView]:
        """List what a user was shown and has decided, newest first.

        Answers one entry for each act: asked, shown again, accepted, withdrawn. An entry names the version and
        the digests of the texts that were shown, so that the consent can be demonstrated (GDPR Art. 7(1)). An
        erasure removes the history with everything else.
        """
        given: Dict[str, Any] = {"user_id": user_id, "guild_id": guild_id}
        return AsyncPages(self._call, "GET /consents/history", "entries", given, options)

    async def receipt(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        options: Optional[CallOptions] = None,
    ) -> ConsentReceiptView:
        """Issue a signed receipt of the consent in force.

        Answers a signed statement of what the user has consented to, with the fields of ISO/IEC TS 27560. The
        signature is verified with the public keys of `/.well-known/lethe-keys.json`. While the consent is
        unchanged a repeat answers the same statement. Without a consent in force the answer is 404.
        """
        given: Dict[str, Any] = {"user_id": user_id, "guild_id": guild_id}
        answer: ConsentReceiptView = await self._call.send("GET /consents/receipt", given, options)
        return answer

    async def register_text(
        self,
        *,
        title: str,
        body: str,
        consent_version: str,
        language: str,
        accept_label: Optional[str] = OMITTED,
        decline_label: Optional[str] = OMITTED,
        privacy_notice: Optional[str] = OMITTED,
        jurisdiction: Optional[str] = OMITTED,
        storage_locations: Optional[List[str]] = OMITTED,
        recipient_third_parties: Optional[List[str]] = OMITTED,
        withdrawal_method: Optional[str] = OMITTED,
        categories: Optional[List[CategoryText]] = OMITTED,
        texts: Optional[Mapping[str, FurtherConsentText]] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> ConsentTextView:
        """Register the text of a version in one language.

        Stores the words that users are shown for a version, so that the history of a consent can prove them by
        their digest (GDPR Art. 7(1)). The same text again is answered with the same record. Other words for the
        same version and language are refused with 409 `text_exists`: register a new version. `texts` registers
        further languages with it, all or none.
        """
        given: Dict[str, Any] = {
            "title": title,
            "body": body,
            "consent_version": consent_version,
            "language": language,
            "accept_label": accept_label,
            "decline_label": decline_label,
            "privacy_notice": privacy_notice,
            "jurisdiction": jurisdiction,
            "storage_locations": storage_locations,
            "recipient_third_parties": recipient_third_parties,
            "withdrawal_method": withdrawal_method,
            "categories": categories,
            "texts": texts,
        }
        answer: ConsentTextView = await self._call.send("POST /consents/texts", given, options)
        return answer

    def texts(
        self,
        *,
        consent_version: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[ConsentTextView]:
        """List the registered texts, by version and language.

        Answers one page of the registered texts with their digests, ordered by version and language.
        """
        given: Dict[str, Any] = {"consent_version": consent_version}
        return AsyncPages(self._call, "GET /consents/texts", "texts", given, options)

    async def words(self, digest: str, *, options: Optional[CallOptions] = None) -> ConsentWordsView:
        """Read the words that a user was shown.

        Answers the text with this digest, which the history of a consent names (GDPR Art. 7(1)): a registered
        one, or one that the service has made of categories. The digest is that of the other fields of the
        answer.
        """
        given: Dict[str, Any] = {"digest": digest}
        answer: ConsentWordsView = await self._call.send("GET /consents/texts/{digest}", given, options)
        return answer


class AsyncUsers(AsyncGroup):
    def list(
        self,
        *,
        user_id: Optional[Id] = OMITTED,
        guild_id: Optional[Id] = OMITTED,
        status: Optional[Literal["none", "pending", "accepted", "revoked"]] = OMITTED,
        category: Optional[str] = OMITTED,
        order: Optional[Literal["key", "recent"]] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> AsyncWalk[ListedUserView]:
        """List the users.

        Answers one page of the users about whom anything is held, one item for each user and guild, with what
        `GET /consents/status` answers. Erased users are left out. A page with `status`, `category` or
        `order=recent` looks at 500 users at most: it can have fewer items than `page_size`, or none, and `next`
        continues until it is null. It writes no audit event.
        """
        given: Dict[str, Any] = {
            "user_id": user_id,
            "guild_id": guild_id,
            "status": status,
            "category": category,
            "order": order,
        }
        return AsyncWalk(self._call, "GET /users", "users", given, options)


class AsyncData(AsyncGroup):
    def values_of_guild(
        self,
        *,
        guild_id: Id,
        category: str,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[UserValueView]:
        """Read one category of all users of a guild.

        Answers one page of what is stored under the category, in a fixed order, of the users whose consent in
        force covers it, but for those who have restricted it: each once. A bot that looks for today’s birthdays
        needs no second copy. It writes no audit event. A value that cannot be decrypted has `data` null and
        `unreadable` true.
        """
        given: Dict[str, Any] = {"guild_id": guild_id, "category": category}
        return AsyncPages(self._call, "GET /data/values", "values", given, options)

    async def values(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        category: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> ValuesView:
        """Read what is stored about a user.

        Answers the stored values by category, for the processing of the bot itself: of all categories that the
        consent in force covers, or of one. Without such a consent, and for what the user has restricted, the
        answer is 403; of all categories the restricted ones are left out. It writes no audit event; to answer a
        user (GDPR Art. 15) use the export.
        """
        given: Dict[str, Any] = {"user_id": user_id, "guild_id": guild_id, "category": category}
        answer: ValuesView = await self._call.send("GET /data/values/{user_id}", given, options)
        return answer

    async def erase_values(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        category: str,
        options: Optional[CallOptions] = None,
    ) -> ValuesErasedView:
        """Erase one category of a user.

        Erases what is stored about the user under the category, whether the consent is in force or not, and
        records `data_deleted`. The consent stays: a later submit stores again. A repeat is answered with
        `deleted` false. To erase everything about a user (GDPR Art. 17) use `POST /gdpr/forget-user`.
        """
        given: Dict[str, Any] = {"user_id": user_id, "guild_id": guild_id, "category": category}
        answer: ValuesErasedView = await self._call.send("DELETE /data/values/{user_id}", given, options)
        return answer

    async def object(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        category: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> RefusalsView:
        """Record that the user objects to the processing.

        The user objects to a category whose legal basis is `legitimate_interests` or `public_task` (GDPR Art.
        21): what is stored under it is erased, and submits are refused with 403 `processing_refused` and
        `details.reason` `objection`. Without `category` it is about all categories of these bases, also those
        that are declared later. For another legal basis the answer is 409 `not_objectable`. An erasure of the
        user removes the objection, and so does the deletion of the category that it names.
        """
        given: Dict[str, Any] = {"user_id": user_id, "guild_id": guild_id, "category": category}
        answer: RefusalsView = await self._call.send("POST /data/object", given, options)
        return answer

    async def restrict(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        category: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> RefusalsView:
        """Record that the user restricts the processing.

        Keeps what is stored about the user under the category, or without `category` all of it, for export and
        erasure (GDPR Art. 18): submits and the reading of values are refused with 403 `processing_refused` and
        `details.reason` `restriction`, until `POST /data/unrestrict`. The user can still correct values on the
        privacy page. `retention_days` and the erasure after a withdrawal still apply. A repeat is answered with
        what is in force.
        """
        given: Dict[str, Any] = {"user_id": user_id, "guild_id": guild_id, "category": category}
        answer: RefusalsView = await self._call.send("POST /data/restrict", given, options)
        return answer

    async def unrestrict(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        category: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> RefusalsView:
        """Record that the user ends a restriction.

        Ends the restriction of the category, or without `category` every restriction of the user. A restriction
        of everything stays in force when a category is named: the answer says what is in force. Inform the user
        before a restriction ends (GDPR Art. 18(3)).
        """
        given: Dict[str, Any] = {"user_id": user_id, "guild_id": guild_id, "category": category}
        answer: RefusalsView = await self._call.send("POST /data/unrestrict", given, options)
        return answer

    async def refusals(self, *, user_id: Id, guild_id: Id, options: Optional[CallOptions] = None) -> RefusalsView:
        """Read what a user has objected to or restricted.

        Answers the objections and restrictions in force about the user. It writes no audit event. Two empty
        lists mean that nothing is refused, whether the user is known or not.
        """
        given: Dict[str, Any] = {"user_id": user_id, "guild_id": guild_id}
        answer: RefusalsView = await self._call.send("GET /data/refusals/{user_id}", given, options)
        return answer


class AsyncAudit(AsyncGroup):
    async def write(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        event_type: Literal["consent_requested", "consent_accepted", "consent_revoked", "data_submitted", "data_exported", "data_deleted", "deletion_requested", "deletion_completed", "deletion_failed"],
        details: Optional[Mapping[str, Any]] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> AuditEventView:
        """Write an audit event of the bot.

        Appends an event of the bot's own, marked with `source` `client`, beside the events that the service
        writes itself. `details` are encrypted with the key of the user and become unreadable with an erasure. A
        repeat appends a further event.
        """
        given: Dict[str, Any] = {
            "user_id": user_id,
            "guild_id": guild_id,
            "event_type": event_type,
            "details": details,
        }
        answer: AuditEventView = await self._call.send("POST /audit/event", given, options)
        return answer

    def events(
        self,
        *,
        user_id: Optional[Id] = OMITTED,
        guild_id: Optional[Id] = OMITTED,
        event_type: Optional[Literal["consent_requested", "consent_accepted", "consent_revoked", "data_submitted", "data_exported", "data_deleted", "deletion_requested", "deletion_completed", "deletion_failed"]] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[AuditEventView]:
        """List audit events, newest first.

        Answers one page of the log, filtered by user, guild or type if these are given. Every act that took
        effect has one event; a refused call has none. `details.actor` of an event of the service says who did
        it: `key:` and the beginning of the API key, `console`, `privacy_page` or `job`. Events of an erased user
        remain without the ids of the user.
        """
        given: Dict[str, Any] = {"user_id": user_id, "guild_id": guild_id, "event_type": event_type}
        return AsyncPages(self._call, "GET /audit/events", "events", given, options)

    async def proof(self, event_id: str, *, options: Optional[CallOptions] = None) -> AuditProofView:
        """Prove that an event is part of the sealed log.

        Answers the path from one event to a signed checkpoint (RFC 9162), which can be verified without the
        service. An event that is not sealed yet is sealed by this call. An answer of 503 says that older acts
        are still under way: ask again.
        """
        given: Dict[str, Any] = {"event_id": event_id}
        answer: AuditProofView = await self._call.send("GET /audit/proof/{event_id}", given, options)
        return answer

    def checkpoints(self, *, options: Optional[CallOptions] = None) -> AsyncPages[CheckpointView]:
        """List the signed checkpoints of the log, newest first.

        Answers one page of the checkpoints. A party that keeps a checkpoint can show later that the log was
        changed before it. `pruning` is a signed statement of what was removed after its retention, if anything
        was.
        """
        given: Dict[str, Any] = {}
        return AsyncPages(self._call, "GET /audit/checkpoints", "checkpoints", given, options)

    async def breach_scope(self, *, from_: str, to: str, options: Optional[CallOptions] = None) -> BreachScopeView:
        """Count the users with recorded acts in the period of a breach (GDPR Art. 33).

        Counts the users and guilds with a recorded act in a period, and records by category, for the
        notification of a breach (GDPR Art. 33(3)(a)). Reads of values and copies of the database leave no
        record: such a breach can concern every user about whom Lethe holds anything, also a consent alone:
        `records_held` counts the stored values of now, one for each user, guild and category, and not the users.
        The answer holds numbers only and names no user; `exact` says whether large numbers are estimates. While
        a report of the bot is being made a further one is refused with 409 `report_in_progress`.
        """
        given: Dict[str, Any] = {"from": from_, "to": to}
        answer: BreachScopeView = await self._call.send("GET /audit/breach-scope", given, options)
        return answer


class AsyncUnnamed(AsyncGroup):
    async def stats(
        self,
        *,
        from_: Optional[str] = OMITTED,
        to: Optional[str] = OMITTED,
        bucket: Optional[Literal["hour", "day"]] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> StatsView:
        """Count acts, webhook calls and erasures by hour or day.

        Answers for each hour or day (UTC) the number of audit events of the service, the ends of webhook calls
        and the durations of erasures, up to this moment. Events that the bot has posted are not counted. The
        numbers are kept for 400 days, also where the events are removed earlier. `under_consent` is the number
        of users in guilds whose consent was in force at the end of each day.
        """
        given: Dict[str, Any] = {"from": from_, "to": to, "bucket": bucket}
        answer: StatsView = await self._call.send("GET /stats", given, options)
        return answer


class AsyncPrivacy(AsyncGroup):
    async def link(
        self,
        *,
        user_id: Id,
        guild_id: Optional[Id] = OMITTED,
        scope: Optional[Literal["all_guilds"]] = OMITTED,
        language: Optional[str] = OMITTED,
        expires_in: Optional[int] = OMITTED,
        allow: Optional[List[Literal["view", "consent", "export", "forget", "correct"]]] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> PrivacyLinkView:
        """Make a link to the privacy page of a user.

        Answers a link to the privacy page: the user sees the stored data, gives and withdraws consent, corrects
        values of editable fields, downloads an export and erases the data. Give it to this user alone: anyone
        who has it sees the page. It ends at `expires_at`, with the API key that made it, with an erasure of the
        user, and when it is deleted. The key needs the scopes of what the page offers: `read` for `view` and
        `export`, `write` for `consent` and `correct`, `erase` for `forget`; without `allow` the page offers what
        the key may do. A user has at most ten links; an eleventh ends the oldest.
        """
        given: Dict[str, Any] = {
            "user_id": user_id,
            "guild_id": guild_id,
            "scope": scope,
            "language": language,
            "expires_in": expires_in,
            "allow": allow,
        }
        answer: PrivacyLinkView = await self._call.send("POST /privacy-links", given, options)
        return answer

    async def end_link(self, id: str, *, options: Optional[CallOptions] = None) -> PrivacyLinkDeletedView:
        """End a privacy link.

        From this answer on the link opens no page. A repeat is answered with 404. It takes the key that made the
        link, or one of scope `admin`.
        """
        given: Dict[str, Any] = {"id": id}
        answer: PrivacyLinkDeletedView = await self._call.send("DELETE /privacy-links/{id}", given, options)
        return answer

    async def status(self, id: str, *, options: Optional[CallOptions] = None) -> DeletionRequestView:
        """Read an erasure request.

        Answers the state of an erasure: `processing`, `completed` or `failed`. An erasure that was interrupted
        is finished by the service without a further request. `webhook_sent` turns true once the receiver of the
        bot has confirmed `user_forgotten`. `coverage` has the answers of the holders of the bot, where it has
        any.
        """
        given: Dict[str, Any] = {"id": id}
        answer: DeletionRequestView = await self._call.send("GET /gdpr/forget-status/{id}", given, options)
        return answer

    async def certificate(self, id: str, *, options: Optional[CallOptions] = None) -> CertificateView:
        """Read the signed certificate of an erasure.

        Answers a signed statement that the erasure took place, which can be verified without the service (GDPR
        Art. 5(2)). It names the user only to those who know the ids and the `certificate_salt` of the answer to
        `forget-user`. A repeat answers the same text. Before the erasure is completed the answer is 409
        `deletion_not_completed`.
        """
        given: Dict[str, Any] = {"id": id}
        answer: CertificateView = await self._call.send("GET /gdpr/forget-status/{id}/certificate", given, options)
        return answer

    async def final_certificate(self, id: str, *, options: Optional[CallOptions] = None) -> CertificateView:
        """Read the signed final certificate of an erasure.

        Answers a signed statement about the erasure in Lethe and in every holder of the bot, once each has
        answered `erased`, `nothing` or `kept` (GDPR Art. 5(2) and 19). It contains the certificate of the
        erasure and each answer. The signature of Lethe proves that the answers were received; the `statement` of
        a holder with a `public_key` is signed by the holder itself. It is signed at each call, since `erased`
        can follow `kept`; the one with the latest `issued_at` has priority.
        """
        given: Dict[str, Any] = {"id": id}
        answer: CertificateView = await self._call.send("GET /gdpr/forget-status/{id}/final-certificate", given, options)
        return answer


class AsyncOperator(AsyncGroup):
    async def status(self, *, options: Optional[CallOptions] = None) -> StatusView:
        """Read the state of the installation.

        Answers versions, migrations, what waits, and what readiness calls degraded, with what to do. One reading
        of the database serves all callers for 5 seconds.
        """
        given: Dict[str, Any] = {}
        answer: StatusView = await self._call.send("GET /operator/status", given, options)
        return answer

    async def findings(self, *, options: Optional[CallOptions] = None) -> FindingsView:
        """Look for what operators forget.

        Answers what `doctor` of the command line finds in the settings, the files beside the database and the
        database, with what to do. One reading serves all callers for a minute.
        """
        given: Dict[str, Any] = {}
        answer: FindingsView = await self._call.send("GET /operator/findings", given, options)
        return answer

    async def storage(self, *, options: Optional[CallOptions] = None) -> StorageView:
        """Read the size of the installation over time.

        Answers the size of the database now, and a sample for each day, kept for 400 days.
        """
        given: Dict[str, Any] = {}
        answer: StorageView = await self._call.send("GET /operator/storage", given, options)
        return answer

    def bots(self, *, options: Optional[CallOptions] = None) -> AsyncPages[OperatedBotView]:
        """List all bots.

        Answers the bots in the order of their ids, with tier, state and size. Subjects and values are counted up
        to 10,000: this number means as many or more.
        """
        given: Dict[str, Any] = {}
        return AsyncPages(self._call, "GET /operator/bots", "bots", given, options)

    async def suspend(self, id: str, *, options: Optional[CallOptions] = None) -> OperatedBotView:
        """Suspend a bot.

        Until it is resumed the bot can read, export, erase, record withdrawals, objections and restrictions,
        make privacy links, and answer the tasks of its holders; nothing else works, and its webhook calls wait.
        The answer comes when this holds in every process. A repeat changes nothing.
        """
        given: Dict[str, Any] = {"id": id}
        answer: OperatedBotView = await self._call.send("POST /operator/bots/{id}/suspend", given, options)
        return answer

    async def resume(self, id: str, *, options: Optional[CallOptions] = None) -> OperatedBotView:
        """End the suspension of a bot.

        The webhook calls that have waited are sent. A repeat changes nothing.
        """
        given: Dict[str, Any] = {"id": id}
        answer: OperatedBotView = await self._call.send("POST /operator/bots/{id}/resume", given, options)
        return answer

    async def set_tier(self, *, id: str, tier: str, options: Optional[CallOptions] = None) -> OperatedBotView:
        """Give a bot a tier.

        The tier sets the requests per minute of the bot. It holds in every process when the answer comes. `GET
        /operator/status` lists the tiers. A repeat changes nothing.
        """
        given: Dict[str, Any] = {"id": id, "tier": tier}
        answer: OperatedBotView = await self._call.send("PUT /operator/bots/{id}/tier", given, options)
        return answer


class AsyncHolders(AsyncGroup):
    async def register(
        self,
        *,
        key: str,
        kind: Literal["pull", "webhook"],
        covers: List[str],
        label_de: str,
        label_en: str,
        public_key: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> HolderView:
        """Register a store of the bot as a holder.

        Registers a store in which the bot keeps data about users itself. Every erasure that is completed after
        this answer makes a task for it. With a `public_key` each of its answers has to be signed. A key that is
        registered already is refused with 409 `holder_exists`, the 21st holder with 409 `limit_reached`, and the
        kind `webhook` of a bot without `webhook_url` with 409 `no_webhook_url`.
        """
        given: Dict[str, Any] = {
            "key": key,
            "kind": kind,
            "covers": covers,
            "label_de": label_de,
            "label_en": label_en,
            "public_key": public_key,
        }
        answer: HolderView = await self._call.send("POST /holders", given, options)
        return answer

    def list(self, *, options: Optional[CallOptions] = None) -> AsyncPages[HolderView]:
        """List the holders of the bot.

        Answers one page of the holders in the order of their keys, each with what is open for it.
        """
        given: Dict[str, Any] = {}
        return AsyncPages(self._call, "GET /holders", "holders", given, options)

    async def get(self, key: str, *, options: Optional[CallOptions] = None) -> HolderView:
        """Read a holder of the bot.

        Answers one holder with what is open for it. An unknown key is answered with 404.
        """
        given: Dict[str, Any] = {"key": key}
        answer: HolderView = await self._call.send("GET /holders/{key}", given, options)
        return answer

    async def change(
        self,
        *,
        key: str,
        kind: Optional[Literal["pull", "webhook"]] = OMITTED,
        covers: Optional[List[str]] = OMITTED,
        label_de: Optional[str] = OMITTED,
        label_en: Optional[str] = OMITTED,
        public_key: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> HolderView:
        """Change a holder of the bot.

        Changes what the body names; null clears `public_key`. What was answered before keeps the labels and the
        key that it was answered with. A changed `kind` is about the tasks that are made from then on. A repeat
        has the same result.
        """
        given: Dict[str, Any] = {
            "key": key,
            "kind": kind,
            "covers": covers,
            "label_de": label_de,
            "label_en": label_en,
            "public_key": public_key,
        }
        answer: HolderView = await self._call.send("PUT /holders/{key}", given, options)
        return answer

    async def delete(
        self,
        *,
        key: str,
        abandon: Optional[Literal["true", "false"]] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> HolderDeletedView:
        """Delete a holder of the bot.

        Deletes the holder; its answers stay with their erasures. While tasks are open the answer is 409
        `holder_has_open_tasks`, unless `abandon` is true: they get the result `abandoned`, which the erasures
        show. Without it, tasks of erasures that are completed after the deletion has begun to remove something
        get it, too. If the call is interrupted, it may have removed a part: repeat it with `abandon=true`. Once
        the holder is deleted a repeat is answered with 404.
        """
        given: Dict[str, Any] = {"key": key, "abandon": abandon}
        answer: HolderDeletedView = await self._call.send("DELETE /holders/{key}", given, options)
        return answer

    def tasks(
        self,
        *,
        key: str,
        since: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> AsyncWalk[TaskView]:
        """List the tasks of a holder.

        Answers one page of the open tasks, oldest first, each with the ids of a user to erase in the store
        (`act` is erase). Behind them those with the `act` export follow, which ask what the store has about the
        user. A task stays in the list until it has a final answer, so that a store that was away misses none.
        With `since` the erasures that were answered at or after that time follow: after the store was restored
        from a backup of that time, they have to be carried out again.
        """
        given: Dict[str, Any] = {"key": key, "since": since}
        return AsyncWalk(self._call, "GET /holders/{key}/tasks", "tasks", given, options)

    async def acknowledge(
        self,
        *,
        key: str,
        task_id: str,
        result: Literal["erased", "nothing", "kept", "failed", "exported"],
        counts: Optional[Mapping[str, int]] = OMITTED,
        kept: Optional[HoldersAcknowledgeKept] = OMITTED,
        data: Optional[Mapping[str, Any]] = OMITTED,
        statement: Optional[str] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> TaskView:
        """Answer a task of a holder.

        Records what the store has done: `erased`, `nothing`, `kept` with its legal basis (GDPR Art. 17(3)), or
        `failed`, which leaves the task open. The same final answer again changes nothing; another one is refused
        with 409 `task_answered`, except that `erased`, `nothing`, or `kept` until a later time can follow
        `kept`. A holder with a `public_key` signs `statement`: a compact JWS with the header
        `{"alg":"EdDSA","typ":"lethe-holder-answer+jwt"}` over `bot_id`, `holder`, `task_id`, `result`, `counts`,
        `kept` and `at`. A task with the `act` export takes `exported` with `data`, `nothing` or `failed`, and is
        404 after an erasure of the user; with data its statement has `data_digest` too: the SHA-256, in
        base64url, of the data as compact JSON.
        """
        given: Dict[str, Any] = {
            "key": key,
            "task_id": task_id,
            "result": result,
            "counts": counts,
            "kept": kept,
            "data": data,
            "statement": statement,
        }
        answer: TaskView = await self._call.send("POST /holders/{key}/tasks/{task_id}/acknowledge", given, options)
        return answer
