import '@lethe/sdk/evidence/lethe-verify';
