"""Templates: functions, conditions, places."""

from __future__ import annotations

import textwrap

from phalanx.lint.readers.cfn import lower_first
from tests.support.linting import only

TASK = """
Resources:
  Task:
    Type: AWS::ECS::TaskDefinition
    Properties:
      RequiresCompatibilities: {compat}
      ContainerDefinitions:
        - Name: a
          Image: a:1
          ResourceRequirements:
            - Type: GPU
              Value: {gpus}
"""


def test_a_condition_is_tried_both_ways() -> None:
    text = (
        "Parameters:\n  Kind: {Type: String, Default: ec2}\n"
        "Conditions:\n  OnFargate: !Equals [!Ref Kind, fargate]\n"
        + TASK.format(compat="[!If [OnFargate, FARGATE, EC2]]", gpus="1")
    )
    where = "Resources.Task.Properties.ContainerDefinitions[0].ResourceRequirements"
    assert only("fargate-gpu", text, "t.yaml") == [("error", where)]


def test_two_conditions_on_one_parameter_are_never_both_true() -> None:
    gpu = "!If [Big, [{Type: GPU, Value: 1}], !Ref AWS::NoValue]"
    text = (
        "Parameters:\n  Size: {Type: String, Default: small, AllowedValues: [small, big]}\n"
        "Conditions:\n  Big: !Equals [!Ref Size, big]\n  Small: !Equals [!Ref Size, small]\n"
        "Resources:\n  Task:\n    Type: AWS::ECS::TaskDefinition\n    Properties:\n"
        "      RequiresCompatibilities: [!If [Small, FARGATE, EC2]]\n"
        f"      ContainerDefinitions:\n        - Name: a\n          ResourceRequirements: {gpu}\n"
    )
    assert only("fargate-gpu", text, "t.yaml") == []


def test_a_resource_of_a_false_condition_is_left_out_of_that_assumption() -> None:
    text = (
        "Parameters:\n  Pool: {Type: String, Default: 'no', AllowedValues: ['no', 'yes']}\n"
        "Conditions:\n  WithPool: !Equals [!Ref Pool, 'yes']\n"
        "  NoPool: !Not [!Condition WithPool]\n"
        "Resources:\n"
        "  Provider:\n    Type: AWS::ECS::CapacityProvider\n    Condition: WithPool\n"
        "    Properties: {AutoScalingGroupProvider: {AutoScalingGroupArn: arn}}\n"
        "  Service:\n    Type: AWS::ECS::Service\n    Condition: NoPool\n"
        "    Properties: {LaunchType: EC2, TaskDefinition: x}\n"
    )
    assert only("launch-type-bypasses-capacity-provider", text, "t.yaml") == []
    both = text.replace("    Condition: NoPool\n", "")
    assert len(only("launch-type-bypasses-capacity-provider", both, "t.yaml")) == 1


def test_parameters_without_a_default_stay_unknown() -> None:
    text = "Parameters:\n  Compat: {Type: String}\n" + TASK.format(
        compat="[!Ref Compat]", gpus="!Ref Compat"
    )
    assert only("fargate-gpu", text, "t.yaml") == []


def test_defaults_mappings_and_joins_are_worked_out() -> None:
    text = textwrap.dedent("""
        Mappings:
          Types: {gpu: {name: g4dn.xlarge, memory: 16384}}
        Resources:
          Task:
            Type: AWS::ECS::TaskDefinition
            Properties:
              Memory: !FindInMap [Types, gpu, memory]
              PlacementConstraints:
                - Type: memberOf
                  Expression: !Join
                    - ''
                    - ['attribute:ecs.instance-type == ', !FindInMap [Types, gpu, name]]
              ContainerDefinitions: [{Name: a, Image: a}]
        """)
    expected = [("error", "Resources.Task.Properties.Memory")]
    assert only("memory-no-headroom", text, "t.yaml") == expected


def test_user_data_of_a_substitution_is_read() -> None:
    text = textwrap.dedent("""
        Parameters: {Cluster: {Type: String}}
        Resources:
          Spot:
            Type: AWS::EC2::LaunchTemplate
            Properties:
              LaunchTemplateData:
                InstanceMarketOptions: {MarketType: spot}
                UserData:
                  Fn::Base64: !Sub |
                    #!/bin/bash
                    echo ECS_CLUSTER=${Cluster} >> /etc/ecs/ecs.config
        """)
    where = "Resources.Spot.Properties.LaunchTemplateData.UserData"
    assert only("spot-draining-off", text, "t.yaml") == [("error", where)]
    line = next(line for line in text.splitlines() if "ECS_CLUSTER" in line)
    more = line.replace("ECS_CLUSTER=${Cluster}", "ECS_ENABLE_SPOT_INSTANCE_DRAINING=true")
    on = text.replace(line, f"{line}\n{more}")
    assert only("spot-draining-off", on, "t.yaml") == []


def test_json_templates_are_read_with_places() -> None:
    text = """{"Resources": {"P": {"Type": "AWS::ECS::CapacityProvider", "Properties": {
      "Name": "gpu", "AutoScalingGroupProvider": {"AutoScalingGroupArn": {"Ref": "X"},
      "ManagedTerminationProtection": "DISABLED"}}}}}"""
    where = "Resources.P.Properties.AutoScalingGroupProvider.ManagedTerminationProtection"
    assert only("termination-protection-off", text) == [("warning", where)]


def test_names_in_capitals_become_api_words() -> None:
    assert lower_first("VPCZoneIdentifier") == "vpcZoneIdentifier"
    assert lower_first("ContainerDefinitions") == "containerDefinitions"
    assert lower_first("EFSVolumeConfiguration") == "efsVolumeConfiguration"
    assert lower_first("name") == "name"


def test_zones_chosen_by_number_are_told_apart() -> None:
    subnet = (
        "  S{n}:\n    Type: AWS::EC2::Subnet\n"
        "    Properties: {{AvailabilityZone: !Select [{zone}, !GetAZs '']}}\n"
    )
    rest = textwrap.dedent("""
          Pg:
            Type: AWS::EC2::PlacementGroup
            Properties: {Strategy: cluster}
          Group:
            Type: AWS::AutoScaling::AutoScalingGroup
            Properties:
              PlacementGroup: !Ref Pg
              VPCZoneIdentifier: [!Ref S0, !Ref S1]
        """).replace("\n", "\n  ")
    two = "Resources:\n" + subnet.format(n=0, zone=0) + subnet.format(n=1, zone=1) + rest
    same = "Resources:\n" + subnet.format(n=0, zone=1) + subnet.format(n=1, zone=1) + rest
    where = "Resources.Group.Properties.VPCZoneIdentifier"
    assert only("cluster-pg-multi-az", two, "t.yaml") == [("error", where)]
    assert only("cluster-pg-multi-az", same, "t.yaml") == []
