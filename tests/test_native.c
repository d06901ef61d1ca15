/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "sim/base/error.h"
#include "tests/trace_text.h"
#include "traces/native.h"
#include "traces/write_native.h"

#define HEAD "job_id,submit_time,num_gpus,duration\n"

typedef struct Case {
	const char *what;
	const char *text;
	const char *expected;
} Case;

static void
check_case(const Case *wanted, const char *time_zone, gboolean skip_bad_rows)
{
	g_autofree char *found = trace_to_text(wanted->text, time_zone, skip_bad_rows);

	ck_assert_msg(g_str_equal(found, wanted->expected), "%s: found\n%s\nwanted\n%s",
	              wanted->what, found, wanted->expected);
}

/* Good traces */

static const Case good_cases[] = {
	{ "S02 a job of no GPUs", HEAD "A,0,0,50\nB,0,8,10\n", HEAD "A,0,0,50\nB,0,8,10\n" },
	{ "S03 a job of no duration", HEAD "A,0,1,0\n", HEAD "A,0,1,0\n" },
	{ "S05 unsorted", HEAD "A,100,1,10\nB,0,1,10\nC,50,1,10\n",
	  HEAD
	  "A,100,1,10\nB,0,1,10\nC,50,1,10\n"
	  "notice: t.csv:3:3: found a submit time before that of the row above, jobs are taken "
	  "in the order of (submit time, row)\n" },
	{ "S07 CRLF and no last newline",
	  "job_id,submit_time,num_gpus,duration\r\n1,0,1,10\r\n2,0,1,20",
	  HEAD "1,0,1,10\n2,0,1,20\n" },
	{ "S08 byte-order mark", "\xef\xbb\xbf" HEAD "1,0,1,10\n", HEAD "1,0,1,10\n" },
	{ "S09 comments and blank lines",
	  "# made by hand\n" HEAD "1,0,1,10\n\n# note\n2,0,1,20\n\n", HEAD "1,0,1,10\n2,0,1,20\n" },
	{ "S10 ids are text",
	  HEAD "application_1_2,0,1,1\ndlc01x,0,1,1\n007,0,1,1\n7,0,1,1\n\" 7\",0,1,1\n",
	  HEAD "application_1_2,0,1,1\ndlc01x,0,1,1\n007,0,1,1\n7,0,1,1\n 7,0,1,1\n" },
	{ "S12 fractions of a second", HEAD "A,0.5,1,10.25\nB,0.5,1,0.25\n",
	  HEAD "A,0.5,1,10.25\nB,0.5,1,0.25\n" },
	{ "S15a a header alone", HEAD, HEAD },
	{ "any order, blanks around names", "duration, num_gpus ,job_id,submit_time\n9,8,A,7\n",
	  HEAD "A,7,8,9\n" },
	{ "exponents, blanks, whole decimals", HEAD "A, 1e3 ,4.0,2.5E-1\n",
	  HEAD "A,1000,4,0.25\n" },
	{ "nanoseconds", HEAD "A,0.000000001,1,9223372036\n", HEAD "A,0.000000001,1,9223372036\n" },
	{ "E05 milliseconds",
	  "job_id,submit_time_ms,num_gpus,duration_ms\nA,0,1,10000\nB,1.5,1,1\n",
	  HEAD "A,0,1,10\nB,0.0015,1,0.001\n" },
	{ "other units", "job_id,submit_time_us,num_gpus,duration_ns\nA,1,1,2\nB,1500000,1,3\n",
	  HEAD "A,0.000001,1,0.000000002\nB,1.5,1,0.000000003\n" },
	{ "seconds by name", "job_id,submit_time_s,num_gpus,duration_s\nA,1,1,2\n",
	  HEAD "A,1,1,2\n" },
	{ "E07 the trace's own clock", HEAD "A,1000,1,10\n", HEAD "A,1000,1,10\n" },
	{ "start and end",
	  "job_id,submit_time,start_time,end_time,num_gpus\nB,100,100,160,1\nC,100,130.5,160,1\n",
	  HEAD "B,100,1,60\nC,100,1,29.5\n" },
	{ "A43 end - start is used, a difference noticed",
	  "job_id,submit_time,start_time,end_time,num_gpus,duration\n"
	  "A,0,5,15,1,10\nB,0,5,15,1,12\nC,0,,,1,7\nD,0,1,2,1,\n",
	  HEAD "A,0,1,10\nB,0,1,10\nC,0,1,7\nD,0,1,1\n"
	       "notice: t.csv:3:12: found \"12\" for duration, but end_time - start_time is 10 s, "
	       "which is used\n" },
	{ "A42 more than nine decimals are rounded half to even",
	  HEAD "A,0.0000000005,1,1\nB,0.0000000015,1,1.00000000151\n",
	  HEAD "A,0,1,1\nB,0.000000002,1,1.000000002\n"
	       "notice: t.csv:2:3: found \"0.0000000005\" for submit_time, rounded half to even to "
	       "a whole nanosecond\n" },
	{ "zeros are no decimals", HEAD "A,0.50000000000,1,1.000000000000\n", HEAD "A,0.5,1,1\n" },
	{ "apps",
	  "job_id,submit_time,num_gpus,duration,app_id\na,0,1,1,x\nb,0,1,1,x\nc,0,1,1,\n"
	  "d,0,1,1,y\n",
	  "job_id,submit_time,num_gpus,duration,app_id\na,0,1,1,x\nb,0,1,1,x\nc,0,1,1,\nd,0,1,1,"
	  "y\n" },
	{ "E03 the trace's own state, and labels",
	  "job_id,submit_time,num_gpus,duration,state,user,tenant,group,model,gpu_type,kind\n"
	  "A,0,1,20,FAILED,u,t,g,m,v100|p100,k\nB,0,1,20,COMPLETED,,,,,nan,\n",
	  "job_id,submit_time,num_gpus,duration,user,tenant,group,model,gpu_type,state,kind\n"
	  "A,0,1,20,u,t,g,m,v100|p100,FAILED,k\nB,0,1,20,,,,,nan,COMPLETED,\n" },
	{ "E04 and B11 time limits",
	  "job_id,submit_time,num_gpus,duration,time_limit\nA,0,1,10,10\nB,0,1,10,9.5\nC,0,1,10,0\n"
	  "D,0,1,10,none\nE,0,1,10,\n",
	  "job_id,submit_time,num_gpus,duration,time_limit\nA,0,1,10,10\nB,0,1,10,9.5\nC,0,1,10,\n"
	  "D,0,1,10,\nE,0,1,10,\n" },
	{ "priority, weight, deadline",
	  "job_id,submit_time,num_gpus,duration,priority,weight,deadline\n"
	  "A,5,1,10,-3,0.5,99\nB,5,1,10,+7,,\nC,5,1,10, 2 ,1.0,1\n",
	  "job_id,submit_time,num_gpus,duration,priority,weight,deadline\n"
	  "A,5,1,10,-3,0.5,99\nB,5,1,10,7,1,\nC,5,1,10,2,1,1\n" },
	{ "iterations, and models with slowdowns",
	  "job_id,submit_time,num_gpus,duration,iteration_s,model,slowdown\n"
	  "A,0,1,10,0.5,m,1/1.0/1.25/1.5\nB,0,1,10,,n,\nC,0,1,10,0,M,1/1/1.25/1.500\n",
	  "job_id,submit_time,num_gpus,duration,model,slowdown,iteration\n"
	  "A,0,1,10,m,1/1/1.25/1.5,0.5\nB,0,1,10,n,,\nC,0,1,10,M,1/1/1.25/1.5,\n" },
	{ "memory and CPUs",
	  "job_id,submit_time,num_gpus,duration,cpus,mem_mib,gpu_mem_mib\nA,0,1,1,2.5,1024,16384\n"
	  "B,0,1,1,,,0\n",
	  "job_id,submit_time,num_gpus,duration,gpu_mem_mib,cpus,mem_mib\nA,0,1,1,16384,2.5,1024\n"
	  "B,0,1,1,,,\n" },
	{ "A45 shares",
	  "job_id,submit_time,num_gpus,duration,gpu_share\nA,0,1,1,0.125\nB,0,1,1,1\n"
	  "C,0,4,1,\n",
	  "job_id,submit_time,num_gpus,duration,gpu_share\nA,0,1,1,0.125\nB,0,1,1,\nC,0,4,1,\n" },
	{ "A46 workers", "job_id,submit_time,workers,gpus_per_worker,duration\nA,0,3,2,1\n",
	  "job_id,submit_time,num_gpus,duration,workers,gpus_per_worker\nA,0,6,1,3,2\n" },
	{ "A46 workers beside num_gpus",
	  "job_id,submit_time,num_gpus,workers,gpus_per_worker,duration\nA,0,6,3,2,1\nB,0,,2,4,1\n"
	  "C,0,5,,,1\n",
	  "job_id,submit_time,num_gpus,duration,workers,gpus_per_worker\nA,0,6,1,3,2\nB,0,8,1,2,4\n"
	  "C,0,5,1,,\n" },
	{ "B09 widths",
	  "job_id,submit_time,num_gpus,duration,min_gpus,max_gpus\nA,0,4,1,1,8\nB,0,4,1,2,\n"
	  "C,0,4,1,,8\nD,0,4,1,,\nE,0,4,1,4,4\n",
	  "job_id,submit_time,num_gpus,duration,min_gpus,max_gpus\nA,0,4,1,1,8\nB,0,4,1,2,4\n"
	  "C,0,4,1,1,8\nD,0,4,1,,\nE,0,4,1,,\n" },
	{ "unknown columns are listed once",
	  "job_id,submit_time,num_gpus,duration,colour,priorty\nA,0,1,1,red,3\nB,0,1,1,blue,4\n",
	  HEAD
	  "A,0,1,1\nB,0,1,1\n"
	  "notice: t.csv:1:38: found columns that are not read: \"colour\", \"priorty\" (perhaps "
	  "\"priority\" is meant)\n" },
	{ "cells that need quotes", HEAD "\"a,\"\"b\"\"\",0,1,1\n\"#c\",0,1,1\n",
	  HEAD "\"a,\"\"b\"\"\",0,1,1\n\"#c\",0,1,1\n" },
	{ "the widest job", HEAD "A,0,16777216,1\n", HEAD "A,0,16777216,1\n" },
	{ "dates",
	  HEAD "A,2017-10-09 07:01:55,1,1\nB,2017-10-09T07:01:55.25,1,1\nC,2017-10-10,1,1\n"
	       "D,2017-10-10 01:02,1,1\n",
	  HEAD "A,1507532515,1,1\nB,1507532515.25,1,1\nC,1507593600,1,1\nD,1507597320,1,1\n" },
	{ "E06 offsets",
	  HEAD "A,2023-03-01 08:00:00+08:00,1,1\nB,2023-03-01 00:00:00+00:00,1,1\n"
	       "C,2023-03-01T00:00:00Z,1,1\nD,2023-02-28T19:00:00-0500,1,1\n"
	       "E,2023-03-01 05:30:00 +05:30,1,1\nF,2023-03-01 01:00:00+01,1,1\n"
	       "G,2023-03-01 00:00:00 UTC,1,1\n",
	  HEAD "A,1677628800,1,1\nB,1677628800,1,1\nC,1677628800,1,1\nD,1677628800,1,1\n"
	       "E,1677628800,1,1\nF,1677628800,1,1\nG,1677628800,1,1\n" },
	{ "leap days", HEAD "A,2000-02-29,1,1\nB,2024-02-29 23:59:59,1,1\n",
	  HEAD "A,951782400,1,1\nB,1709251199,1,1\n" },
	{ "dates of start and end",
	  "job_id,submit_time,start_time,end_time,num_gpus\n"
	  "A,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,1\n",
	  HEAD "A,1591728061,1,36848\n" },
};

START_TEST(reads)
{
	check_case(&good_cases[_i], NULL, FALSE);
}
END_TEST

/* Bad rows */

static const Case bad_cases[] = {
	{ "S06 one id twice", HEAD "X,0,1,10\nX,5,1,20\n",
	  "error 3: t.csv:3:1: found the job_id \"X\" of line 2 again, wanted an id of its own\n" },
	{ "S11 end before start",
	  "job_id,submit_time,start_time,end_time,num_gpus\nA,100,100,0,1\nB,100,100,160,1\n",
	  "error 3: t.csv:2:11: found \"0\" for end_time, wanted start_time (\"100\") or later\n" },
	{ "S13 decimal comma in quotes", HEAD "A,\"0,5\",1,\"10,25\"\n",
	  "error 3: t.csv:2:3: found \"0,5\" for submit_time, wanted a number of seconds or a "
	  "date-time such as 2017-10-09 07:01:55 with a decimal point, not a comma\n" },
	{ "S13 decimal comma that adds a cell", HEAD "A,0,1,10,25\n",
	  "error 3: t.csv:2:10: found 5 cells, wanted 4 as in the header (a comma inside a cell "
	  "needs "
	  "quotes; a decimal comma must be a point)\n" },
	{ "S15b nothing", "",
	  "error 3: t.csv:1:1: found no header, wanted a first row that names the columns\n" },
	{ "A49 rows without a header", "1,0,1,10\n2,0,1,20\n",
	  "error 3: t.csv:1:1: found \"1,0,1,10\", the header of no known format, wanted a header "
	  "such "
	  "as job_id,submit_time,num_gpus,duration (themis-sim trace --formats lists all)\n" },
	{ "semicolons", "job_id;submit_time;num_gpus;duration\n1;0;1;10,5\n",
	  "error 3: t.csv:1:1: found \"job_id;submit_time;num_gpus;duration\", the header of no "
	  "known "
	  "format, wanted names separated by commas\n" },
	{ "a column is missing", "job_id,submit_time,num_gpus\nA,0,1\n",
	  "error 3: t.csv:1:1: found no column \"duration\", wanted it\n" },
	{ "a column is mistyped", "job_id,submit_tme,num_gpus,duration\nA,0,1,1\n",
	  "error 3: t.csv:1:8: found no column \"submit_time\", wanted it (perhaps \"submit_tme\" "
	  "is "
	  "meant)\n" },
	{ "the nearest of several is perhaps meant",
	  "job_id,user,num_cpu,num_gpu,min_gpus,submit_time,duration\nA,u,1,1,,0,1\n",
	  "error 3: t.csv:1:21: found no column \"num_gpus\", wanted it (perhaps \"num_gpu\" is "
	  "meant)\n" },
	{ "a start without an end", "job_id,submit_time,num_gpus,start_time\nA,0,1,1\n",
	  "error 3: t.csv:1:1: found no column \"duration\", wanted it\n" },
	{ "a column twice", "job_id,submit_time,num_gpus,duration,num_gpus\nA,0,1,1,1\n",
	  "error 3: t.csv:1:38: found a second column \"num_gpus\", wanted one\n" },
	{ "a column twice, in two units", "job_id,submit_time,num_gpus,duration,duration_ms\n",
	  "error 3: t.csv:1:38: found the column \"duration_ms\" beside \"duration\", wanted one "
	  "of "
	  "them\n" },
	{ "slowdowns that are none",
	  "job_id,submit_time,num_gpus,duration,model,slowdown\nA,0,1,1,m,1/1/1.25\n"
	  "B,0,1,1,m,1/0.9/1/1\nC,0,1,1,m,1/1.2/1.1/1.3\nD,0,1,1,m,1/1/1/x\nE,0,1,1,m,1/1/1/1/1\n"
	  "F,0,1,1,m,1/1/1/1e7\nG,0,1,1,,1/1/1/1\nH,0,1,1,m,1/1/1/2\nI,0,1,1,M,1/1/1/3\n",
	  "error 3: t.csv:2:11: found \"1/1/1.25\" for slowdown, wanted four numbers from 1 to "
	  "1000000, as "
	  "1/1/1.25/1.5, none below the one before\n"
	  "t.csv:3:11: found \"1/0.9/1/1\" for slowdown, wanted four numbers from 1 to 1000000, as "
	  "1/1/1.25/1.5, none below the one before\n"
	  "t.csv:4:11: found \"1/1.2/1.1/1.3\" for slowdown, wanted four numbers from 1 to "
	  "1000000, as "
	  "1/1/1.25/1.5, none below the one before\n"
	  "t.csv:5:11: found \"1/1/1/x\" for slowdown, wanted four numbers from 1 to 1000000, as "
	  "1/1/1.25/1.5, none below the one before\n"
	  "t.csv:6:11: found \"1/1/1/1/1\" for slowdown, wanted four numbers from 1 to 1000000, as "
	  "1/1/1.25/1.5, none below the one before\n"
	  "t.csv:7:11: found \"1/1/1/1e7\" for slowdown, wanted four numbers from 1 to 1000000, as "
	  "1/1/1.25/1.5, none below the one before\n"
	  "t.csv:8:10: found slowdowns without a model, wanted the name of one\n"
	  "t.csv:10:11: found slowdowns of the model \"M\" that differ from those in a row above, "
	  "wanted the same\n" },
	{ "E05 a date where the header says milliseconds",
	  "job_id,submit_time_ms,num_gpus,duration\nA,2017-10-09 07:01:55,1,1\n",
	  "error 3: t.csv:2:3: found \"2017-10-09 07:01:55\" for submit_time_ms, wanted a number "
	  "of "
	  "milliseconds\n" },
	{ "E05 a unit in a cell",
	  "job_id,submit_time,num_gpus,duration_ms\nA,0,1,10s\nB,0,1,10 ms\n",
	  "error 3: t.csv:2:7: found \"10s\" for duration_ms, wanted a number of milliseconds "
	  "without "
	  "a unit (it goes into the column's name)\n"
	  "t.csv:3:7: found \"10 ms\" for duration_ms, wanted a number of milliseconds without a "
	  "unit "
	  "(it goes into the column's name)\n" },
	{ "E06 with and without offset",
	  HEAD "A,2023-03-01 08:00:00+08:00,1,1\nB,2023-03-01 00:00:00,1,1\n",
	  "error 3: t.csv:3:3: found \"2023-03-01 00:00:00\" for submit_time, wanted an offset as "
	  "in "
	  "the rows before (or --tz)\n" },
	{ "E06 without and with offset",
	  HEAD "A,2023-03-01 08:00:00,1,1\nB,2023-03-01 00:00:00Z,1,1\n",
	  "error 3: t.csv:3:3: found \"2023-03-01 00:00:00Z\" for submit_time, wanted no offset as "
	  "in "
	  "the rows before (or --tz)\n" },
	{ "numbers and dates", HEAD "A,7,1,1\nB,2023-03-01,1,1\n",
	  "error 3: t.csv:3:3: found \"2023-03-01\" for submit_time, wanted a number as in the "
	  "rows "
	  "before\n" },
	{ "dates and numbers", HEAD "A,2023-03-01,1,1\nB,7,1,1\n",
	  "error 3: t.csv:3:3: found \"7\" for submit_time, wanted a date-time as in the rows "
	  "before\n" },
	{ "no such day or time",
	  HEAD "A,2023-02-29,1,1\nB,2023-01-01 24:00:00,1,1\nC,2023-13-01,1,1\n"
	       "D,2023-01-01 00:60,1,1\nE,2023-01-01 00:00:60,1,1\nF,2023-00-01,1,1\n",
	  "error 3: t.csv:2:3: found \"2023-02-29\" for submit_time, wanted a day and a time of "
	  "day "
	  "that exist\n"
	  "t.csv:3:3: found \"2023-01-01 24:00:00\" for submit_time, wanted a day and a time of "
	  "day "
	  "that exist\n"
	  "t.csv:4:3: found \"2023-13-01\" for submit_time, wanted a day and a time of day that "
	  "exist\n"
	  "t.csv:5:3: found \"2023-01-01 00:60\" for submit_time, wanted a day and a time of day "
	  "that "
	  "exist\n"
	  "t.csv:6:3: found \"2023-01-01 00:00:60\" for submit_time, wanted a day and a time of "
	  "day "
	  "that exist\n"
	  "t.csv:7:3: found \"2023-00-01\" for submit_time, wanted a day and a time of day that "
	  "exist\n" },
	{ "no date-time", HEAD "A,2023-02-2,1,1\nB,2023-02-02x,1,1\nC,2023-02-02 1:00,1,1\n",
	  "error 3: t.csv:2:3: found \"2023-02-2\" for submit_time, wanted a date-time such as "
	  "2017-10-09 07:01:55 or 2017-10-09T07:01:55+08:00\n"
	  "t.csv:3:3: found \"2023-02-02x\" for submit_time, wanted a date-time such as 2017-10-09 "
	  "07:01:55 or 2017-10-09T07:01:55+08:00\n"
	  "t.csv:4:3: found \"2023-02-02 1:00\" for submit_time, wanted a date-time such as "
	  "2017-10-09 "
	  "07:01:55 or 2017-10-09T07:01:55+08:00\n" },
	{ "dates beyond the clock", HEAD "A,1969-12-31 23:59:59,1,1\nB,2262-04-12,1,1\n",
	  "error 3: t.csv:2:3: found \"1969-12-31 23:59:59\" for submit_time, wanted 1970 or "
	  "later\n"
	  "t.csv:3:3: found \"2262-04-12\" for submit_time, a time overflow, wanted less than 2^63 "
	  "nanoseconds since "
	  "1970 (April 2262)\n" },
	{ "a date for a duration", HEAD "A,0,1,2017-10-09\n",
	  "error 3: t.csv:2:7: found \"2017-10-09\" for duration, wanted a number of seconds\n" },
	{ "A19 beyond the clock", HEAD "A,1e10,1,1\nB,0,1,9223372036.854775808\nC,9e9,1,9e9\n",
	  "error 3: t.csv:2:3: found \"1e10\" for submit_time, a time overflow, wanted less than "
	  "2^63 nanoseconds "
	  "(about "
	  "292 years)\n"
	  "t.csv:3:7: found \"9223372036.854775808\" for duration, a time overflow, wanted less "
	  "than 2^63 "
	  "nanoseconds "
	  "(about 292 years)\n"
	  "t.csv:4:9: found a submit plus duration beyond the clock, a time overflow, wanted at "
	  "most 9223372036.854775807 s\n" },
	{ "A42 no numbers",
	  HEAD
	  "A,-1,1,1\nB,0,1,-5\nC,nan,1,1\nD,0,1,inf\nE,0,1,0x10\nF,0,1,+5\nG,0,1,.5\nH,0,1,5.\n"
	  "I,0,-1,1\nJ,0,two,1\n",
	  "error 3: t.csv:2:3: found \"-1\" for submit_time, wanted 0 or more\n"
	  "t.csv:3:7: found \"-5\" for duration, wanted 0 or more\n"
	  "t.csv:4:3: found \"nan\" for submit_time, wanted a number of seconds or a date-time "
	  "such as "
	  "2017-10-09 07:01:55\n"
	  "t.csv:5:7: found \"inf\" for duration, wanted a number of seconds\n"
	  "t.csv:6:7: found \"0x10\" for duration, wanted a number of seconds\n"
	  "t.csv:7:7: found \"+5\" for duration, wanted a number of seconds\n"
	  "t.csv:8:7: found \".5\" for duration, wanted a number of seconds\n"
	  "t.csv:9:7: found \"5.\" for duration, wanted a number of seconds\n"
	  "t.csv:10:5: found \"-1\" for num_gpus, wanted a whole number from 0 to 16777216\n"
	  "t.csv:11:5: found \"two\" for num_gpus, wanted a whole number from 0 to 16777216\n" },
	{ "numbers of GPUs", HEAD "A,0,0.5,1\nB,0,16777217,1\nC,0,99999999999999999999,1\n",
	  "error 3: t.csv:2:5: found \"0.5\" for num_gpus, wanted a whole number from 0 to "
	  "16777216\n"
	  "t.csv:3:5: found \"16777217\" for num_gpus, wanted a whole number from 0 to 16777216\n"
	  "t.csv:4:5: found \"99999999999999999999\" for num_gpus, wanted a whole number from 0 to "
	  "16777216\n" },
	{ "empty cells", HEAD ",0,1,1\nB,,1,1\nC,0,,1\nD,0,1, \n",
	  "error 3: t.csv:2:1: found nothing for job_id, wanted a value\n"
	  "t.csv:3:3: found nothing for submit_time, wanted a value\n"
	  "t.csv:4:5: found nothing for num_gpus, wanted a value\n"
	  "t.csv:5:7: found nothing for duration, wanted a value\n" },
	{ "neither duration nor end",
	  "job_id,submit_time,num_gpus,start_time,end_time\nA,0,1,5,\nB,0,1,,5\n",
	  "error 3: t.csv:2:9: found nothing for end_time, wanted a value\n"
	  "t.csv:3:7: found nothing for start_time, wanted a value\n" },
	{ "A45 shares",
	  "job_id,submit_time,num_gpus,duration,gpu_share\nA,0,1,1,0\nB,0,1,1,1.5\nC,0,1,1,0.0005\n"
	  "D,0,2,1,0.5\nE,0,2,1,1\n",
	  "error 3: t.csv:2:9: found \"0\" for gpu_share, wanted a number from 0.001 to 1 with at "
	  "most 3 "
	  "decimals\n"
	  "t.csv:3:9: found \"1.5\" for gpu_share, wanted a number from 0.001 to 1 with at most 3 "
	  "decimals\n"
	  "t.csv:4:9: found \"0.0005\" for gpu_share, wanted a number from 0.001 to 1 with at most "
	  "3 "
	  "decimals\n"
	  "t.csv:5:9: found a gpu_share beside num_gpus 2, wanted num_gpus 1\n"
	  "t.csv:6:9: found a gpu_share beside num_gpus 2, wanted num_gpus 1\n" },
	{ "A34 an app called as another job",
	  "job_id,submit_time,num_gpus,duration,app_id\nA,0,1,1,\nB,0,1,1,A\nC,0,1,1,x\nx,0,1,1,\n",
	  "error 3: t.csv:3:9: found the app_id \"A\", the job_id of line 2 that has no app_id, "
	  "wanted another one\n"
	  "t.csv:5:1: found the job_id \"x\", without app_id, that is an app_id of rows above, "
	  "wanted another one\n" },
	{ "B09 widths",
	  "job_id,max_gpus,submit_time,num_gpus,duration,min_gpus\nA,,0,4,1,5\nB,3,0,4,1,\nC,3,0,0,"
	  "1,"
	  "\n",
	  "error 3: t.csv:2:10: found min_gpus 5 above num_gpus 4, wanted at most that many\n"
	  "t.csv:3:3: found max_gpus 3 below num_gpus 4, wanted at least that many\n"
	  "t.csv:4:3: found max_gpus 3 for num_gpus 0, wanted none\n" },
	{ "A45 a share of a job that can grow",
	  "job_id,submit_time,num_gpus,duration,max_gpus,gpu_share\nA,0,1,1,2,0.5\n",
	  "error 3: t.csv:2:11: found a gpu_share with num_gpus 1 and max_gpus 2, wanted 1\n" },
	{ "A46 workers that do not match",
	  "job_id,submit_time,num_gpus,workers,gpus_per_worker,duration\nA,0,7,3,2,1\nB,0,4,2,,1\n"
	  "C,0,4,,2,1\nD,0,,16777216,16777216,1\n",
	  "error 3: t.csv:2:7: found 3 workers of 2 GPUs for num_gpus 7, wanted a product equal to "
	  "it\n"
	  "t.csv:3:7: found workers 2 without gpus_per_worker, wanted both or none\n"
	  "t.csv:4:8: found gpus_per_worker 2 without workers, wanted both or none\n"
	  "t.csv:5:6: found 16777216 workers of 16777216 GPUs, wanted fewer GPUs\n" },
	{ "workers without the other column",
	  "job_id,submit_time,num_gpus,workers,duration\nA,0,4,2,1\n",
	  "error 3: t.csv:2:7: found workers 2 without gpus_per_worker, wanted both or none\n" },
	{ "workers alone, and none",
	  "job_id,submit_time,workers,gpus_per_worker,duration\nA,0,2,,1\n"
	  "B,0,,,1\n",
	  "error 3: t.csv:2:5: found workers 2 without gpus_per_worker, wanted both or none\n"
	  "t.csv:3:5: found neither num_gpus nor workers and gpus_per_worker, wanted one of "
	  "them\n" },
	{ "A19 an overflow is told where the duration comes from",
	  "job_id,submit_time,num_gpus,duration,start_time,end_time\nA,9e9,1,1,0,9e9\nB,9e9,1,9e9,"
	  "0,\n",
	  "error 3: t.csv:2:13: found a submit plus duration beyond the clock, a time overflow, "
	  "wanted at most 9223372036.854775807 s\n"
	  "t.csv:3:9: found a submit plus duration beyond the clock, a time overflow, wanted at "
	  "most 9223372036.854775807 s\n" },
	{ "a row of several lines",
	  "user,job_id,submit_time,num_gpus,duration\nu,A,0,1,1\n"
	  "\"u\nv\",A,0,1,1\n",
	  "error 3: t.csv:4:4: found the job_id \"A\" of line 2 again, wanted an id of its own\n" },
	{ "other ranges",
	  "job_id,submit_time,num_gpus,duration,priority,weight,min_gpus,cpus,mem_mib\n"
	  "A,0,1,1,1.5,,,,\nB,0,1,1,--1,,,,\nC,0,1,1,,0,,,\nD,0,1,1,,,0,,\nE,0,1,1,,,,0.0001,\n"
	  "F,0,1,1,,,,,1.5\nG,0,1,1,,-1,,,\n",
	  "error 3: t.csv:2:9: found \"1.5\" for priority, wanted a whole number of either sign\n"
	  "t.csv:3:9: found \"--1\" for priority, wanted a whole number of either sign\n"
	  "t.csv:4:10: found \"0\" for weight, wanted a number from 0.000000001 to 1000000 with at "
	  "most "
	  "9 decimals\n"
	  "t.csv:5:11: found \"0\" for min_gpus, wanted a whole number from 1 to 16777216\n"
	  "t.csv:6:12: found \"0.0001\" for cpus, wanted a number from 0 to 2147483.647 with at "
	  "most 3 "
	  "decimals\n"
	  "t.csv:7:13: found \"1.5\" for mem_mib, wanted a whole number from 0 to "
	  "1125899906842624\n"
	  "t.csv:8:10: found \"-1\" for weight, wanted a number from 0.000000001 to 1000000 with "
	  "at most "
	  "9 decimals\n" },
	{ "one complaint a row", HEAD "A,x,y,z\n",
	  "error 3: t.csv:2:3: found \"x\" for submit_time, wanted a number of seconds or a "
	  "date-time "
	  "such as 2017-10-09 07:01:55\n" },
	{ "columns are counted in characters", HEAD "\xc3\xa4\xe2\x82\xac,x,1,1\n",
	  "error 3: t.csv:2:4: found \"x\" for submit_time, wanted a number of seconds or a "
	  "date-time "
	  "such as 2017-10-09 07:01:55\n" },
};

START_TEST(refuses)
{
	check_case(&bad_cases[_i], NULL, FALSE);
}
END_TEST

START_TEST(shows_twenty_problems)
{
	g_autoptr(GString) text = g_string_new(HEAD);
	g_autofree char *found = NULL;
	g_auto(GStrv) lines = NULL;

	for (guint i = 0; i < 30; i++)
		g_string_append_printf(text, "j%u,0,1,%s\n", i, i % 3 == 0 ? "x" : "-1");
	found = trace_to_text(text->str, NULL, FALSE);
	lines = g_strsplit(found, "\n", -1);
	ck_assert_uint_eq(g_strv_length(lines), 22);
	ck_assert_str_eq(lines[20], "t.csv: and 10 more; in all 30: 10 not a number, 20 negative "
	                            "number");
}
END_TEST

static const Case skip_cases[] = {
	{ "--skip-bad-rows", HEAD "A,0,1,x\nB,0,1,1\nB,0,1,2\nC,0,1\nD,5,1,1\n",
	  HEAD "B,0,1,1\nD,5,1,1\n"
	       "bad: t.csv:2:7: found \"x\" for duration, wanted a number of seconds\n"
	       "bad: t.csv:4:1: found the job_id \"B\" of line 3 again, wanted an id of its own\n"
	       "bad: t.csv:5:6: found 3 cells, wanted 4 as in the header\n" },
	{ "all rows bad", HEAD "A,0,1,x\n",
	  HEAD "bad: t.csv:2:7: found \"x\" for duration, wanted a number of seconds\n" },
};

START_TEST(skips_bad_rows)
{
	check_case(&skip_cases[_i], NULL, TRUE);
}
END_TEST

/* Reasons must add up to the rows that are missing (A53). */
START_TEST(counts_rows_by_reason)
{
	const TraceOptions options = { "native", NULL, TRUE };
	g_autoptr(Workload) workload = NULL;
	guint64 n_bad = 0;

	put_text("t.csv", HEAD "A,x,y,z\n\nB,0,1,1\nB,0,1,2\nC,0,1\n# D\nE,5,1,1\n\"F,0,1,1\n");
	workload = trace_read("t.csv", &options, NULL);
	for (guint i = 0; i < workload->problems->bad->len; i++)
		n_bad += g_array_index(workload->problems->bad, ReasonCount, i).n;
	ck_assert_uint_eq(workload->n_rows_read, 6);
	ck_assert_uint_eq(workload->n_jobs, 2);
	ck_assert_uint_eq(n_bad, 4);
	ck_assert_str_eq(workload->format, "native");
	ck_assert_str_eq(workload->path, "t.csv");
}
END_TEST

/* Zones */

static const struct {
	const char *zone;
	Case wanted;
} zone_cases[] = {
	{ "America/Los_Angeles",
	  { "summer and winter", HEAD "A,2017-08-07 00:00:00,1,1\nB,2017-12-22 00:00:00,1,1\n",
	    HEAD "A,1502089200,1,1\nB,1513929600,1,1\n" } },
	{ "America/Los_Angeles",
	  { "A40 a local time that occurs twice",
	    HEAD
	    "A,2017-11-05 00:59:59,1,1\nB,2017-11-05 01:30:00,1,1\nC,2017-11-05 02:00:00,1,1\n",
	    HEAD "A,1509868799,1,1\nB,1509870600,1,1\nC,1509876000,1,1\n"
	         "notice: t.csv:3:3: found \"2017-11-05 01:30:00\" for submit_time, which occurs "
	         "twice in this time zone: the first is taken\n" } },
	{ "America/Los_Angeles",
	  { "a local time that never was",
	    HEAD
	    "A,2017-03-12 01:59:59,1,1\nB,2017-03-12 02:30:00,1,1\nC,2017-03-12 03:30:01,1,1\n",
	    HEAD
	    "A,1489312799,1,1\nB,1489314600,1,1\nC,1489314601,1,1\n"
	    "notice: t.csv:3:3: found \"2017-03-12 02:30:00\" for submit_time, which the clocks "
	    "of this time zone skipped: read by the offset before\n" } },
	{ "Asia/Shanghai",
	  { "E06 an offset goes before the zone",
	    HEAD "A,2023-03-01 08:00:00,1,1\nB,2023-03-01 00:00:00+00:00,1,1\n",
	    HEAD "A,1677628800,1,1\nB,1677628800,1,1\n" } },
	{ "+08:00",
	  { "an offset as the zone", HEAD "A,2023-03-01 08:00:00,1,1\n",
	    HEAD "A,1677628800,1,1\n" } },
	{ "UTC",
	  { "UTC is a zone too", HEAD "A,2023-03-01 00:00:00,1,1\nB,2023-03-01 00:00:00Z,1,1\n",
	    HEAD "A,1677628800,1,1\nB,1677628800,1,1\n" } },
	{ "Mars/Olympus",
	  { "no such zone", HEAD,
	    "error 2: found the unknown time zone \"Mars/Olympus\", wanted a name such as "
	    "America/Los_Angeles, or an offset such as +08:00\n" } },
	{ "/etc/passwd",
	  { "a file is no zone", HEAD,
	    "error 2: found the unknown time zone \"/etc/passwd\", wanted a name such as "
	    "America/Los_Angeles, or an offset such as +08:00\n" } },
	{ "zone.tab",
	  { "nor is one beside the zones", HEAD,
	    "error 2: found the unknown time zone \"zone.tab\", wanted a name such as "
	    "America/Los_Angeles, or an offset such as +08:00\n" } },
	{ "",
	  { "no zone at all", HEAD,
	    "error 2: found the unknown time zone \"\", wanted a name such as America/Los_Angeles, "
	    "or "
	    "an offset such as +08:00\n" } },
};

START_TEST(reads_in_a_zone)
{
	check_case(&zone_cases[_i].wanted, zone_cases[_i].zone, FALSE);
}
END_TEST

/* Formats */

static const struct {
	const char *format;
	const char *expected;
} format_cases[] = {
	{ "native", HEAD "A,0,1,1\n" },
	{ "auto", HEAD "A,0,1,1\n" },
	{ "natve",
	  "error 2: found the unknown trace format \"natve\", wanted perhaps \"native\"\n" },
	{ "swf", "error 2: found the unknown trace format \"swf\", wanted one of: auto, native, "
	         "philly-csv, themis\n" },
	{ "philly-csv", "error 3: t.csv:1:1: found no column \"timestamp\", wanted it\n" },
};

START_TEST(takes_a_format)
{
	const TraceOptions options = { format_cases[_i].format, NULL, FALSE };
	g_autofree char *found = NULL;

	put_text("t.csv", HEAD "A,0,1,1\n");
	found = read_to_text("t.csv", &options);
	ck_assert_str_eq(found, format_cases[_i].expected);
}
END_TEST

/* S13: numbers do not follow the locale. */
START_TEST(ignores_the_locale)
{
	if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
		puts("SKIP: the locale de_DE.UTF-8 is not installed");
		return;
	}
	for (guint i = 0; i < G_N_ELEMENTS(good_cases); i++)
		check_case(&good_cases[i], NULL, FALSE);
}
END_TEST

/* What was written is read as the same trace, to the byte, whatever columns it has. */
START_TEST(writes_what_it_reads)
{
	g_autofree char *again = NULL;

	if (!strstr(good_cases[_i].expected, "notice"))
		again = trace_to_text(good_cases[_i].expected, NULL, FALSE);
	if (again)
		ck_assert_str_eq(again, good_cases[_i].expected);
}
END_TEST

START_TEST(writes_a_file)
{
	const TraceOptions options = { "auto", NULL, FALSE };
	g_autoptr(Workload) workload = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *written = NULL;

	put_gzip("t.csv", HEAD "A,0,1,1\n");
	workload = trace_read("t.csv", &options, NULL);
	ck_assert(trace_write_native(workload, "out.csv", NULL));
	ck_assert(g_file_get_contents("out.csv", &written, NULL, NULL));
	ck_assert_str_eq(written, HEAD "A,0,1,1\n");
	ck_assert(!trace_write_native(workload, "nowhere/out.csv", &error));
	ck_assert_int_eq(error->code, SIM_ERROR_INTERNAL);
}
END_TEST

/* Documentation */

START_TEST(documents_every_column)
{
	g_autofree char *path = project_file("docs/trace-format.md");
	g_autofree char *page = NULL;

	ck_assert(g_file_get_contents(path, &page, NULL, NULL));
	for (guint i = 0; trace_formats[i]; i++) {
		g_auto(GStrv) lines = g_strsplit(trace_formats[i]->columns, "\n", -1);

		ck_assert_ptr_nonnull(strstr(page, trace_formats[i]->name));
		for (guint j = 0; lines[j] && lines[j][0]; j++) {
			g_autofree char *name = g_strndup(lines[j], strcspn(lines[j], "\t"));
			g_autofree char *row = g_strdup_printf("\n| `%s` |", name);

			ck_assert_msg(strstr(page, row) != NULL, "no row of %s on the page", name);
		}
	}
}
END_TEST

static Suite *
native_suite(void)
{
	Suite *suite = suite_create("native");
	TCase *tests = tcase_create("native");

	tcase_add_checked_fixture(tests, enter_test_folder, leave_test_folder);
	tcase_add_loop_test(tests, reads, 0, G_N_ELEMENTS(good_cases));
	tcase_add_loop_test(tests, refuses, 0, G_N_ELEMENTS(bad_cases));
	tcase_add_test(tests, shows_twenty_problems);
	tcase_add_loop_test(tests, skips_bad_rows, 0, G_N_ELEMENTS(skip_cases));
	tcase_add_test(tests, counts_rows_by_reason);
	tcase_add_loop_test(tests, reads_in_a_zone, 0, G_N_ELEMENTS(zone_cases));
	tcase_add_loop_test(tests, takes_a_format, 0, G_N_ELEMENTS(format_cases));
	tcase_add_test(tests, ignores_the_locale);
	tcase_add_loop_test(tests, writes_what_it_reads, 0, G_N_ELEMENTS(good_cases));
	tcase_add_test(tests, writes_a_file);
	tcase_add_test(tests, documents_every_column);
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(native_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
