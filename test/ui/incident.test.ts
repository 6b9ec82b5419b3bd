import { incidentOn } from "./_incident.ts";

incidentOn("node");
