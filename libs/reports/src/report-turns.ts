import { Injectable } from '@nestjs/common';
import { conflict } from '@app/kernel';

/**
 * Long reports are made one at a time in each process, and one at a time for each bot: a report waits for those of other
 * bots. Each reads in small parts, between which all other requests are answered.
 */
@Injectable()
export class ReportTurns {
  private turn: Promise<unknown> = Promise.resolve();
  private readonly asked = new Set<string>();

  /** @throws ApiError 409 `report_in_progress` while another report of the bot is made */
  async make<Report>(botId: string, work: () => Promise<Report>): Promise<Report> {
    if (this.asked.has(botId))
      throw conflict('report_in_progress', 'A report of this bot is being made: wait for its answer');
    this.asked.add(botId);
    const made = this.turn.then(work);
    this.turn = made.catch(() => undefined);
    try {
      return await made;
    } finally {
      this.asked.delete(botId);
    }
  }
}
